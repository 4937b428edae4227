//! The commands that maintain banks: `memory bank gc` and `repair`.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::Code;
use memory_core::bank::BankRepairMode;

use super::common::{BankOutputFormat, BankScopeFilter, open, print_table, scope_choice_or_all};
use super::list::wants_table;
use crate::app::App;
use crate::datetime::parse_duration;
use crate::failure::Failure;
use crate::print::{Table, TableColumn, counted};

/// Delete expired entries, and old ones with --older-than; `memory undo` restores them
///
/// JSON: {removed: [{bank, key, scope, reason}], total, dry_run, unreadable?}, where reason is expired or old
#[derive(Debug, Args)]
pub(super) struct BankGcArgs {
    /// Also delete entries last written longer ago than this, such as 30d
    #[arg(long, value_parser = parse_duration, value_name = "SPAN")]
    older_than: Option<std::time::Duration>,
    /// Print the entries without deleting them
    #[arg(long)]
    dry_run: bool,
    /// Scope of the banks [default: all]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeFilter>,
    /// Output format: json, table, or value for names and keys only [default: table at a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankGcArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let age = self
            .older_than
            .map(|age| chrono::TimeDelta::from_std(age).unwrap_or(chrono::TimeDelta::MAX));
        let (collected, unreadable) =
            memory_core::bank::gc(&banks, scope_choice_or_all(self.scope), age, self.dry_run)?;
        if self.format == Some(BankOutputFormat::Value) {
            collected
                .iter()
                .try_for_each(|one| app.output.line(&format!("{}\t{}", one.bank, one.key)))?;
        } else if wants_table(self.format, &app.output) {
            let mut table = Table::new(["BANK", "KEY", "SCOPE", "REASON"].map(TableColumn::Whole));
            for one in &collected {
                let reason = if one.why == memory_core::bank::GcReason::Expired {
                    "expired"
                } else {
                    "old"
                };
                table.push([
                    one.bank.as_str(),
                    one.key.as_str(),
                    one.scope.as_str(),
                    reason,
                ]);
            }
            print_table(&mut app.output, &table, "no expired entries")?;
            if self.dry_run && !collected.is_empty() {
                app.output.note("dry run: nothing was deleted")?;
            }
        } else {
            app.output.json_answer(&json::removed_entries(
                &collected,
                &unreadable,
                self.dry_run,
            ))?;
        }
        for error in &unreadable {
            app.output.warn_incomplete(&error.to_string())?;
        }
        Ok(())
    }
}

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
        let repairs = if self.check_only {
            BankRepairMode::None
        } else {
            BankRepairMode::All
        };
        let checked = memory_core::bank::repair(
            &banks,
            bank.as_ref(),
            scope_choice_or_all(self.scope),
            repairs,
        )?;
        if self.format == Some(BankOutputFormat::Value) {
            checked
                .iter()
                .try_for_each(|one| app.output.line(&one.damage.what))?;
        } else if wants_table(self.format, &app.output) {
            let mut table = Table::new(["BANK", "SCOPE", "WHAT", "SET ASIDE"].map(
                |name| match name {
                    "BANK" | "SET ASIDE" => TableColumn::Whole(name),
                    _ => TableColumn::Text(name),
                },
            ));
            for one in &checked {
                let aside = one.damage.set_aside.as_deref().unwrap_or("-");
                table.push([
                    one.damage.bank.as_str(),
                    one.scope.as_str(),
                    &one.damage.what,
                    aside,
                ]);
            }
            print_table(&mut app.output, &table, "no problems found")?;
        } else {
            app.output.json_answer(&json::check_report(&checked))?;
        }
        let count = checked.iter().filter(|one| !one.damage.repaired).count() as u64;
        let why = format!("{} found in the banks", counted(count, "problem"));
        let hint = if self.check_only {
            "run `memory bank repair` to recover readable entries and move the rest aside"
        } else {
            "repair the remaining problems by hand"
        };
        Failure::unless_none(count, why, hint, Code::CheckFailed)
    }
}
