//! The `memory bank query` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankQueryTarget, Key};

use super::common::{BankOutputFormat, BankScopeArg, open, print_table, scope_choice, value_text, write_json};
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// Query a bank, or the value under a key, with a jq filter
///
/// Without a KEY the input is the whole bank: {_meta, entries: {KEY: {value, …}}}. The limits are 5 s and 512 MB
/// (banks.filter_timeout and banks.filter_memory in config.yaml). A filter cannot read files or the environment.
///
/// JSON: the output of the filter, one value per line; with --format json {results: [VALUE…], folder?, also_in?}
#[derive(Debug, Args)]
#[command(override_usage = "memory bank query [OPTIONS] <BANK> [KEY] <FILTER>")]
pub(super) struct BankQueryArgs {
    /// Name of the bank
    bank: String,
    /// The key; or, as the last argument, the filter for the whole bank
    #[arg(value_name = "KEY|FILTER", allow_hyphen_values = true)]
    key_or_filter: String,
    /// Filter for the value under the key
    #[arg(allow_hyphen_values = true)]
    filter: Option<String>,
    /// Scope of the bank [default: project before user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Output format: json ({results: [VALUE…]}), table, or value (one per line) [default: value]
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
    /// Print strings without quotes
    #[arg(long, short)]
    raw: bool,
}

impl BankQueryArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: memory_core::bank::BankName = self.bank.parse()?;
        let (key, filter) = match &self.filter {
            Some(filter) => (Some(&self.key_or_filter), filter),
            None => (None, &self.key_or_filter),
        };
        let key = key.map(|key| key.parse::<Key>()).transpose();
        let key = key.map_err(|error| error.with_bank(bank.as_str(), None))?;
        let subject = key.as_ref().map_or(BankQueryTarget::Bank, BankQueryTarget::Key);
        let queried = memory_core::bank::query(&banks, &bank, subject, filter, scope_choice(self.scope))?;
        let holders = &queried.holders;
        if !holders.others.is_empty() {
            let others: Vec<_> = holders.others.iter().map(|(_, folder)| folder.as_str()).collect();
            let text = format!("using the bank in {}; '{bank}' is also in {}", holders.used, others.join(", "));
            if holders.is_hidden { app.output.warning(&text)? } else { app.output.note(&text)? }
        }
        match self.format {
            Some(BankOutputFormat::Json) => return write_json(&mut app.output, &json::query_results(&queried)),
            Some(BankOutputFormat::Table) => {
                let mut table = Table::new([TableColumn::Text("RESULT")]);
                for result in &queried.results {
                    table.push([value_text(result).as_str()]);
                }
                return print_table(&mut app.output, &table, "the filter returned no results");
            }
            None | Some(BankOutputFormat::Value) => {}
        }
        for result in queried.results {
            match result.as_string().filter(|_| self.raw) {
                Some(text) => app.output.raw_line(&text)?,
                None => app.output.json_text(result.as_str())?,
            }
        }
        Ok(())
    }
}
