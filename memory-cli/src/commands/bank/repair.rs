//! The `memory bank repair` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::BankRepairMode;

use super::common::{BankOutputFormat, BankScopeFilter, open, print_table, scope_choice_or_all, write_json};
use super::list::wants_table;
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// Repair damaged banks: recover readable entries, and move the rest aside
///
/// Exits with 5 if a problem was not repaired.
///
/// JSON: {damage: [{bank, scope, key?, what, repaired, set_aside?}], total}
#[derive(Debug, Args)]
pub(super) struct BankRepairArgs {
    /// Name of the bank [default: all banks]
    bank: Option<String>,
    /// Print problems without repairing them
    #[arg(long)]
    check_only: bool,
    /// Scope of the banks [default: all]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeFilter>,
    /// Output format: json, table, or value for problems only [default: table at a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankRepairArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank = self.bank.as_deref().map(str::parse).transpose()?;
        let repairs = if self.check_only { BankRepairMode::None } else { BankRepairMode::All };
        let checked = memory_core::bank::repair(&banks, bank.as_ref(), scope_choice_or_all(self.scope), repairs)?;
        if self.format == Some(BankOutputFormat::Value) {
            checked.iter().try_for_each(|one| app.output.line(&one.damage.what))?;
        } else if wants_table(self.format, &app.output) {
            let mut table = Table::new(["BANK", "SCOPE", "WHAT", "SET ASIDE"].map(|name| match name {
                "BANK" | "SET ASIDE" => TableColumn::Whole(name),
                _ => TableColumn::Text(name),
            }));
            for one in &checked {
                let aside = one.damage.set_aside.as_deref().unwrap_or("-");
                table.push([one.damage.bank.as_str(), one.scope.as_str(), &one.damage.what, aside]);
            }
            print_table(&mut app.output, &table, "no problems found")?;
        } else {
            write_json(&mut app.output, &json::check_report(&checked))?;
        }
        let count = checked.iter().filter(|one| !one.damage.repaired).count() as u64;
        if count == 0 { Ok(()) } else { Err(Failure::BanksDamaged { count, tried: !self.check_only }) }
    }
}
