//! `memory bank list`

use chrono::{DateTime, Local, Utc};
use clap::Args;
use memory_agent::json::bank as json;

use super::answer::{ListFormat, ScopesArg, choice_of_all, open, put};
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Column, Form, Output, Table};

/// List the banks, or the keys of one
///
/// JSON: {banks: [{name, scope, key_count, updated_at, size_bytes}]}, where error stands for what cannot be read; with a BANK
/// {bank, scope, keys: [{key}], damaged?}, and with --verbose the times and size of each
#[derive(Debug, Args)]
pub(super) struct List {
    /// The bank whose keys to list
    bank: Option<String>,
    /// Whose banks [default: all; of one bank the project's, else yours]
    #[arg(long, value_enum)]
    scope: Option<ScopesArg>,
    /// With times and sizes
    #[arg(long, short)]
    verbose: bool,
    /// json or table [default: a table at a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<ListFormat>,
}

impl List {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let scope = choice_of_all(self.scope);
        let Some(bank) = &self.bank else {
            let listings = memory_core::bank::list(&banks, scope)?;
            if !wants_table(self.format, &app.output) {
                return put(&mut app.output, &json::listings(&listings));
            }
            let mut columns = vec![Column::Text("BANK"), Column::Number("KEYS"), Column::Text("UPDATED"), Column::Text("SCOPE")];
            if self.verbose {
                columns.push(Column::Number("BYTES"));
            }
            let mut table = Table::new(columns);
            for listing in &listings {
                let (keys, updated) = match &listing.state {
                    Ok((keys, updated)) => (keys.to_string(), second(*updated)),
                    Err(error) => ("?".to_owned(), error.to_string()),
                };
                let mut row = vec![listing.name.to_string(), keys, updated, listing.scope.to_string()];
                if self.verbose {
                    row.push(listing.size_bytes.to_string());
                }
                table.push(row.iter().map(String::as_str));
            }
            return show(&mut app.output, &table, "there are no banks yet");
        };
        let bank = bank.parse()?;
        let listing = memory_core::bank::keys(&banks, &bank, scope)?;
        if !wants_table(self.format, &app.output) {
            return put(&mut app.output, &json::keys(&bank, &listing, self.verbose));
        }
        let mut columns = vec![Column::Text("KEY"), Column::Text("UPDATED")];
        if self.verbose {
            columns.extend([Column::Text("CREATED"), Column::Text("EXPIRES"), Column::Number("BYTES")]);
        }
        let mut table = Table::new(columns);
        for (key, entry) in &listing.entries {
            let mut row = vec![key.as_str().to_owned(), second(entry.updated_at)];
            if self.verbose {
                let expires = entry.expires_at().map_or_else(|| "-".to_owned(), second);
                row.extend([second(entry.created_at), expires, entry.value.as_str().len().to_string()]);
            }
            table.push(row.iter().map(String::as_str));
        }
        show(&mut app.output, &table, "the bank has no keys")?;
        for (key, why) in &listing.damaged {
            app.output.less_than_it_should_be(&format!("the entry '{key}' {why}"))?;
        }
        Ok(())
    }
}

/// Tells whether an answer is to be a table.
pub(super) fn wants_table(format: Option<ListFormat>, output: &Output) -> bool {
    match format {
        Some(format) => format == ListFormat::Table,
        None => matches!(output.form(), Form::Drawn(_)),
    }
}

/// Writes a table, with its heading also where it is piped: whoever asked for one wants it.
pub(super) fn show(output: &mut Output, table: &Table, otherwise: &str) -> Result<(), Failure> {
    if table.is_empty() {
        output.note(otherwise)?;
    }
    if matches!(output.form(), Form::Drawn(_)) { Ok(output.table(table)?) } else { Ok(output.columns(table)?) }
}

/// Writes a moment as the clocks here show it.
pub(super) fn second(moment: DateTime<Utc>) -> String {
    moment.with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string()
}
