//! The `memory bank update` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankError, Missing};

use super::answer::{AnswerFormat, ScopeArg, choice, open, put_as, secrets};
use crate::app::App;
use crate::failure::Failure;

/// Change the value under a key with a jq filter, as in '.count += 1'
///
/// No update is lost: the filter runs again if others change the value meanwhile. It must put out one value.
///
/// JSON: {success, key, bank, scope, operation, value}
#[derive(Debug, Args)]
pub(super) struct Update {
    /// Which bank
    bank: String,
    /// Which key
    key: String,
    /// The filter
    #[arg(allow_hyphen_values = true)]
    filter: String,
    /// Whose bank [default: the project's if the key is there, else yours]
    #[arg(long, value_enum)]
    pub(super) scope: Option<ScopeArg>,
    /// If the key does not exist, give the filter null and make it
    #[arg(long)]
    create: bool,
    /// Keep it though it looks like a credential
    #[arg(long)]
    allow_secret: bool,
    /// json, table, or value: the new value alone
    #[arg(long, value_enum)]
    format: Option<AnswerFormat>,
}

impl Update {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: memory_core::bank::BankName = self.bank.parse()?;
        let key = self.key.parse().map_err(|error: BankError| error.about(bank.as_str(), None))?;
        let missing = if self.create { Missing::Create } else { Missing::Refuse };
        let secrets = secrets(self.allow_secret);
        let done = memory_core::bank::update(&banks, &bank, &key, &self.filter, choice(self.scope), missing, secrets)?;
        put_as(&mut app.output, self.format, &json::updated(&done), &["value"])
    }
}
