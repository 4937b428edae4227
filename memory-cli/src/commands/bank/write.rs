//! The `memory bank write` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankError, BankWriteCondition, BankWriteRequest};

use super::common::{BankOutputFormat, BankScopeArg, open, scope_choice, secret_policy, value, write_formatted};
use crate::app::App;
use crate::failure::Failure;

/// Write a JSON value under a key; a missing bank is created
///
/// JSON: {success, key, bank, scope, operation}; operation is create or update
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct BankWriteArgs {
    /// Name of the bank
    bank: String,
    /// The key
    key: String,
    /// Value as JSON; - reads the standard input
    #[arg(allow_hyphen_values = true)]
    value: Option<String>,
    /// Scope of the bank [default: project if there is one, else user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Read the value from the standard input
    #[arg(long)]
    stdin: bool,
    /// Seconds until the entry expires
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u64>,
    /// Fail if the key exists
    #[arg(long, conflicts_with = "update_only")]
    create_only: bool,
    /// Fail if the key does not exist
    #[arg(long)]
    update_only: bool,
    /// Store the value even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
    /// Output format: json, table, or value for only the operation
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankWriteArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: memory_core::bank::BankName = self.bank.parse()?;
        let key: memory_core::bank::Key = self.key.parse().map_err(|error: BankError| error.with_bank(bank.as_str(), None))?;
        let value = value(app, self.value.as_deref(), self.stdin).map_err(|failure| failure.with_bank(&bank, Some(&key)))?;
        let condition = match (self.create_only, self.update_only) {
            (true, _) => BankWriteCondition::Absent,
            (false, true) => BankWriteCondition::Present,
            (false, false) => BankWriteCondition::Any,
        };
        let (ttl, scope, secrets) = (self.ttl, scope_choice(self.scope), secret_policy(self.allow_secret));
        let done = memory_core::bank::write(&banks, &BankWriteRequest { bank, key, value, ttl, condition, scope, secrets })?;
        write_formatted(&mut app.output, self.format, &json::write_result(&done), &["operation"])
    }
}
