//! The `memory bank update` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankError, MissingKey};

use super::common::{BankOutputFormat, BankScopeArg, open, scope_choice, secret_policy, write_formatted};
use crate::app::App;
use crate::failure::Failure;

/// Update the value under a key with a jq filter, such as '.count += 1'
///
/// No update is lost: the filter runs again if another process changes the value. It must return exactly one value.
///
/// JSON: {success, key, bank, scope, operation, value}
#[derive(Debug, Args)]
pub(super) struct BankUpdateArgs {
    /// Name of the bank
    bank: String,
    /// The key
    key: String,
    /// jq filter
    #[arg(allow_hyphen_values = true)]
    filter: String,
    /// Scope of the bank [default: project if the key exists there, else user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Create a missing key; the filter input is then null
    #[arg(long)]
    create: bool,
    /// Store the value even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
    /// Output format: json, table, or value for only the new value
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankUpdateArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: memory_core::bank::BankName = self.bank.parse()?;
        let key = self.key.parse().map_err(|error: BankError| error.with_bank(bank.as_str(), None))?;
        let missing = if self.create { MissingKey::Create } else { MissingKey::Refuse };
        let secrets = secret_policy(self.allow_secret);
        let done = memory_core::bank::update(&banks, &bank, &key, &self.filter, scope_choice(self.scope), missing, secrets)?;
        write_formatted(&mut app.output, self.format, &json::update_result(&done), &["value"])
    }
}
