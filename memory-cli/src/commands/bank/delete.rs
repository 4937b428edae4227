//! The `memory bank delete` command.

use clap::{ArgGroup, Args};
use memory_agent::json::bank as json;
use memory_core::bank::BankError;

use super::common::{BankOutputFormat, BankScopeArg, open, scope_choice, write_formatted};
use crate::app::App;
use crate::failure::Failure;

/// Delete a key or a whole bank; `memory undo` restores it
///
/// JSON: {success, bank, scope, key?, deleted}, where deleted is key or bank
#[derive(Debug, Args)]
#[command(override_usage = "memory bank delete [OPTIONS] <BANK> <KEY|--bank>", group = ArgGroup::new("subject").args(["key", "whole"]).required(true))]
pub(super) struct BankDeleteArgs {
    /// Name of the bank
    bank: String,
    /// The key
    key: Option<String>,
    /// Scope of the bank [default: the scope that contains it, project before user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Delete the whole bank
    #[arg(long = "bank", id = "whole")]
    whole: bool,
    /// Delete without confirmation
    #[arg(long)]
    confirm: bool,
    /// Output format: json, table, or value for only what was deleted
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankDeleteArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: memory_core::bank::BankName = self.bank.parse()?;
        if let Some(key) = &self.key {
            let key = key.parse().map_err(|error: BankError| error.with_bank(bank.as_str(), None))?;
            let scope = memory_core::bank::delete(&banks, &bank, &key, scope_choice(self.scope))?;
            return write_formatted(&mut app.output, self.format, &json::delete_result(&bank, Some(&key), scope), &["deleted"]);
        }
        // Without a terminal, the bank is deleted without a confirmation. It remains in the trash.
        let asks = !self.confirm && app.output.input_is_terminal();
        if asks && !app.output.confirm(&format!("Delete the whole bank {bank}?"))? {
            return Ok(app.output.note("nothing was deleted")?);
        }
        let scope = memory_core::bank::delete_bank(&banks, &bank, scope_choice(self.scope))?;
        write_formatted(&mut app.output, self.format, &json::delete_result(&bank, None, scope), &["deleted"])
    }
}
