//! The `memory bank search` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::BankSearchFields;

use super::common::{BankOutputFormat, BankScopeFilter, open, print_table, scope_choice_or_all, write_json};
use super::list::{folder_label, format_second, wants_table};
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// Search keys by regular expression, and values with --value
///
/// JSON: {matches: [{bank, key, scope, folder?, used?, matched, updated_at, value?}], total, unreadable?}; matched is key
/// or value, and folder and used are present if several folders have the bank
#[derive(Debug, Args)]
pub(super) struct BankSearchArgs {
    /// Regular expression; start it with (?i) to ignore case
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Also search values, each as one line of JSON
    #[arg(long)]
    value: bool,
    /// Scope of the banks [default: all]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeFilter>,
    /// Output format: json, table, or value for names and keys only [default: table at a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankSearchArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let searched = if self.value { BankSearchFields::Values } else { BankSearchFields::Keys };
        let found = memory_core::bank::search(&banks, &self.pattern, searched, scope_choice_or_all(self.scope))?;
        if self.format == Some(BankOutputFormat::Value) {
            found.matches.iter().try_for_each(|one| app.output.line(&format!("{}\t{}", one.bank, one.key)))?;
        } else if wants_table(self.format, &app.output) {
            let in_several = found.matches.iter().any(|one| !one.holders.others.is_empty());
            let last = in_several.then_some(TableColumn::Whole("FOLDER"));
            let columns = [
                TableColumn::Whole("BANK"),
                TableColumn::Whole("KEY"),
                TableColumn::Text("SCOPE"),
                TableColumn::Whole("UPDATED"),
            ];
            let mut table = Table::new(columns.into_iter().chain([TableColumn::Text("MATCHED")]).chain(last).collect::<Vec<_>>());
            for one in &found.matches {
                let matched = if one.by_key { "key" } else { "value" };
                let updated = format_second(one.entry.updated_at);
                let row = [one.bank.as_str(), one.key.as_str(), one.scope.as_str(), &updated, matched];
                let place = in_several.then(|| folder_label(&one.holders));
                table.push(row.into_iter().chain(place.as_deref()));
            }
            print_table(&mut app.output, &table, "no matches found")?;
        } else {
            write_json(&mut app.output, &json::search_results(&found, searched))?;
        }
        for error in &found.unreadable {
            app.output.warn_incomplete(&error.to_string())?;
        }
        Ok(())
    }
}
