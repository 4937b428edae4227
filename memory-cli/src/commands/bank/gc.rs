//! The `memory bank gc` command.

use clap::Args;
use memory_agent::json::bank as json;

use super::answer::{AnswerFormat, ScopesArg, choice_of_all, open, put};
use super::list::{show, wants_table};
use crate::app::App;
use crate::failure::Failure;
use crate::moments::span;
use crate::print::{Column, Table};

/// Take away what has expired, and with --older-than what is old; `memory undo` brings it back
///
/// JSON: {removed: [{bank, key, scope, reason}], total, dry_run, unreadable?}, where reason is expired or old
#[derive(Debug, Args)]
pub(super) struct Gc {
    /// Also what was last written longer ago than this, as in 30d
    #[arg(long, value_parser = span, value_name = "SPAN")]
    older_than: Option<std::time::Duration>,
    /// Only tell what would go
    #[arg(long)]
    dry_run: bool,
    /// Whose banks [default: all]
    #[arg(long, value_enum)]
    pub(super) scope: Option<ScopesArg>,
    /// json, table, or value: names and keys alone [default: a table at a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<AnswerFormat>,
}

impl Gc {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let age = self.older_than.map(|age| chrono::TimeDelta::from_std(age).unwrap_or(chrono::TimeDelta::MAX));
        let (collected, unreadable) = memory_core::bank::gc(&banks, choice_of_all(self.scope), age, self.dry_run)?;
        if self.format == Some(AnswerFormat::Value) {
            collected.iter().try_for_each(|one| app.output.line(&format!("{}\t{}", one.bank, one.key)))?;
        } else if wants_table(self.format, &app.output) {
            let mut table = Table::new(["BANK", "KEY", "SCOPE", "REASON"].map(Column::Whole));
            for one in &collected {
                let reason = if one.why == memory_core::bank::Gone::Expired { "expired" } else { "old" };
                table.push([one.bank.as_str(), one.key.as_str(), one.scope.as_str(), reason]);
            }
            show(&mut app.output, &table, "nothing has to go")?;
            if self.dry_run && !collected.is_empty() {
                app.output.note("nothing was removed: this was a dry run")?;
            }
        } else {
            put(&mut app.output, &json::collected(&collected, &unreadable, self.dry_run))?;
        }
        for error in &unreadable {
            app.output.less_than_it_should_be(&error.to_string())?;
        }
        Ok(())
    }
}
