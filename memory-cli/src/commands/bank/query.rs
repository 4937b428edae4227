//! `memory bank query`

use clap::Args;
use memory_core::bank::{BankError, Subject};

use super::answer::{ScopeArg, choice, open};
use crate::app::App;
use crate::failure::Failure;

/// Ask a bank, or the value under a key, with a jq filter
///
/// Without a KEY the filter is given the whole bank: {_meta, entries: {KEY: {value, …}}}. A filter may take 5 s and 256 MB
/// (banks.filter_timeout and banks.filter_memory in config.yaml); it reads neither files nor the environment.
///
/// JSON: what the filter puts out, a value a line
#[derive(Debug, Args)]
pub(super) struct Query {
    /// Which bank
    bank: String,
    /// Which key; the whole bank if left out
    #[arg(value_name = "KEY", allow_hyphen_values = true)]
    key_or_filter: String,
    /// The filter
    #[arg(allow_hyphen_values = true)]
    filter: Option<String>,
    /// Whose bank [default: the project's, else yours]
    #[arg(long, value_enum)]
    scope: Option<ScopeArg>,
    /// Texts without their quotes
    #[arg(long, short)]
    raw: bool,
}

impl Query {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: memory_core::bank::BankName = self.bank.parse()?;
        let results = match &self.filter {
            Some(filter) => {
                let key = self.key_or_filter.parse().map_err(|error: BankError| error.about(bank.as_str(), None))?;
                memory_core::bank::query(&banks, &bank, Subject::Key(&key), filter, choice(self.scope))?
            }
            None => memory_core::bank::query(&banks, &bank, Subject::Bank, &self.key_or_filter, choice(self.scope))?,
        };
        for result in results {
            match result.as_string().filter(|_| self.raw) {
                Some(text) => app.output.raw_line(&text)?,
                None => app.output.json_text(result.as_str())?,
            }
        }
        Ok(())
    }
}
