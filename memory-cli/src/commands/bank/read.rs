//! `memory bank read`

use clap::{Args, ValueEnum};
use memory_agent::json::bank as json;
use memory_core::bank::{BankError, Trouble};
use memory_core::json::JsonText;

use super::answer::{ScopeArg, choice, open, put};
use crate::app::App;
use crate::failure::Failure;

/// Read the entry under a key, or a whole bank
///
/// JSON: {value, metadata: {created_at, updated_at, ttl?, expires_at?}}, where metadata is null for the default; without a KEY
/// {_meta, entries: {KEY: {value, created_at, updated_at, ttl}}}
#[derive(Debug, Args)]
pub(super) struct Read {
    /// Which bank
    bank: String,
    /// Which key; the whole bank if left out
    key: Option<String>,
    /// Whose bank [default: the project's, else yours]
    #[arg(long, value_enum)]
    scope: Option<ScopeArg>,
    /// What to answer if the key is not there
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    default: Option<String>,
    /// json: with its times; value: alone
    #[arg(long, value_enum, default_value = "json")]
    format: ReadFormat,
    /// A text without its quotes; means --format value
    #[arg(long, short)]
    raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReadFormat {
    Json,
    Value,
}

impl Read {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank = self.bank.parse()?;
        let default = self.default.as_deref().map(str::parse::<JsonText>).transpose().map_err(BankError::from)?;
        let Some(key) = &self.key else {
            return match (memory_core::bank::read_bank(&banks, &bank, choice(self.scope)), default) {
                (Err(error), Some(default)) if is_missing(&error) => put(&mut app.output, default.as_str()),
                (found, _) => {
                    let (_, found) = found?;
                    put(&mut app.output, &json::bank(&found))?;
                    found
                        .damaged
                        .iter()
                        .try_for_each(|(key, why)| Ok(app.output.less_than_it_should_be(&format!("the entry '{key}' {why}"))?))
                }
            };
        };
        let key = key.parse().map_err(|error: BankError| error.about(bank.as_str(), None))?;
        let found = memory_core::bank::read(&banks, &bank, &key, choice(self.scope));
        let (value, whole) = match (found, default) {
            (Err(error), Some(default)) if is_missing(&error) => {
                let whole = json::instead(&default);
                (default, whole)
            }
            (found, _) => {
                let found = found?;
                let whole = json::reading(&found);
                (found.entry.value, whole)
            }
        };
        match (self.raw.then(|| value.as_string()).flatten(), self.format) {
            (Some(text), _) => Ok(app.output.text(&format!("{text}\n"))?),
            (None, ReadFormat::Json) if !self.raw => put(&mut app.output, &whole),
            (None, _) => put(&mut app.output, value.as_str()),
        }
    }
}

fn is_missing(error: &BankError) -> bool {
    matches!(error.trouble, Trouble::BankNotFound | Trouble::KeyNotFound | Trouble::Expired)
}
