//! The `memory bank read` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{Bank, BankError, BankErrorKind, BankName, Key};
use memory_core::json::JsonText;

use super::common::{
    BankOutputFormat, BankScopeArg, open, print_table, scope_choice, value_text, write_formatted, write_json, write_value,
};
use super::list::format_second;
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Output, Table, TableColumn};

/// Read a key or a whole bank
///
/// JSON: {value, metadata: {created_at, updated_at, ttl?, expires_at?}}, with metadata null for the default; without a KEY
/// {_meta, entries: {KEY: {value, created_at, updated_at, ttl}}}. --verbose adds bank, key, scope and metadata.size_bytes,
/// or without a KEY bank, scope and size_bytes, the total size of the values
#[derive(Debug, Args)]
pub(super) struct BankReadArgs {
    /// Name of the bank
    bank: String,
    /// The key [default: the whole bank]
    key: Option<String>,
    /// Scope of the bank [default: project before user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Value to print if the key does not exist
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    default: Option<String>,
    /// Output format: json (with times), value (only the value), or table
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
    /// Also print the bank, key, scope and size
    #[arg(long, short)]
    verbose: bool,
    /// Print a string without quotes; implies --format value
    #[arg(long, short)]
    raw: bool,
}

impl BankReadArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: BankName = self.bank.parse()?;
        let default = self.default.as_deref().map(str::parse::<JsonText>).transpose();
        let default = default.map_err(|error| BankError::new(BankErrorKind::InvalidArgument { argument: "--default", error }))?;
        let Some(key) = &self.key else {
            return match (memory_core::bank::read_bank(&banks, &bank, scope_choice(self.scope)), default) {
                (Err(error), Some(default)) if is_missing(&error) => {
                    self.write_output(app, &default, &json::default_entry(&default))
                }
                (found, _) => {
                    let (scope, found) = found?;
                    if let Some(BankOutputFormat::Table) = self.format {
                        print_entries(&mut app.output, &found, self.verbose)?;
                    } else {
                        let holders = memory_core::bank::find_folders(&banks, &bank, scope_choice(self.scope))?;
                        let verbose = self.verbose.then(|| json::bank_with_size(scope, &found, &holders));
                        write_json(&mut app.output, &verbose.unwrap_or_else(|| json::bank_with_folders(&found, &holders)))?;
                    }
                    found
                        .damaged
                        .iter()
                        .try_for_each(|(key, why)| Ok(app.output.warn_incomplete(&format!("the entry '{key}' {why}"))?))
                }
            };
        };
        let key: Key = key.parse().map_err(|error: BankError| error.with_bank(bank.as_str(), None))?;
        let found = memory_core::bank::read(&banks, &bank, &key, scope_choice(self.scope));
        let (value, whole) = match (found, default) {
            (Err(error), Some(default)) if is_missing(&error) => {
                let whole = json::default_entry(&default);
                (default, whole)
            }
            (found, _) => {
                let found = found?;
                let whole = if self.verbose { json::full_entry(&bank, &key, &found) } else { json::entry(&found) };
                (found.entry.value, whole)
            }
        };
        self.write_output(app, &value, &whole)
    }

    /// Writes a value in the format of the flags; `whole` is the JSON object that contains it.
    fn write_output(&self, app: &mut App, value: &JsonText, whole: &str) -> Result<(), Failure> {
        match (self.raw.then(|| value.as_string()).flatten(), self.format) {
            (Some(text), _) => Ok(app.output.text(&format!("{text}\n"))?),
            (None, Some(BankOutputFormat::Value)) => write_value(&mut app.output, value),
            (None, _) if self.raw => write_value(&mut app.output, value),
            (None, format) => write_formatted(&mut app.output, format, whole, &[]),
        }
    }
}

/// Prints the entries of a bank as a table; `verbose` adds the sizes of the values.
pub(super) fn print_entries(output: &mut Output, bank: &Bank, verbose: bool) -> Result<(), Failure> {
    let size = verbose.then_some(TableColumn::Number("BYTES"));
    let columns = [TableColumn::Whole("KEY"), TableColumn::Text("VALUE"), TableColumn::Whole("UPDATED")];
    let mut table = Table::new(columns.into_iter().chain(size).collect::<Vec<_>>());
    for (key, entry) in &bank.entries {
        let size = verbose.then(|| entry.value.as_str().len().to_string());
        let row = [key.as_str(), &value_text(&entry.value), &format_second(entry.updated_at)];
        table.push(row.into_iter().chain(size.as_deref()));
    }
    print_table(output, &table, "the bank is empty")
}

fn is_missing(error: &BankError) -> bool {
    matches!(error.trouble, BankErrorKind::BankNotFound | BankErrorKind::KeyNotFound | BankErrorKind::Expired)
}
