//! The `memory bank list` command.

use crate::datetime::format_second;
use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankFolders, BankKeyListing, BankName};

use super::common::{BankOutputFormat, BankScopeFilter, open, print_table, scope_choice_or_all};
use crate::app::App;
use crate::failure::Failure;
use crate::print::{Output, Table, TableColumn};

/// List the banks, or the keys of a bank
///
/// JSON: {banks: [{name, scope, key_count, updated_at, size_bytes}]}, with error instead for an unreadable bank; with a
/// BANK {bank, scope, keys: [{key}], damaged?}, with --verbose also the times and size of each key; with --scope all also
/// the scope of each key, and folder and used if several folders have the bank
#[derive(Debug, Args)]
pub(super) struct BankListArgs {
    /// Bank whose keys to list
    bank: Option<String>,
    /// Scope of the banks [default: all]
    ///
    /// For one bank the default is project before user; `all` lists its keys in both.
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeFilter>,
    /// Also print times and sizes
    #[arg(long, short)]
    verbose: bool,
    /// Output format: json, table, or value for names and keys only [default: table at a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankListArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let scope = scope_choice_or_all(self.scope);
        let Some(bank) = &self.bank else {
            let listings = memory_core::bank::list(&banks, scope)?;
            if self.format == Some(BankOutputFormat::Value) {
                return listings
                    .iter()
                    .try_for_each(|listing| app.output.line(listing.name.as_str()));
            }
            if !wants_table(self.format, &app.output) {
                return app.output.json_answer(&json::listings(&listings));
            }
            let mut columns = vec![
                TableColumn::Whole("BANK"),
                TableColumn::Number("KEYS"),
                TableColumn::Text("UPDATED"),
                TableColumn::Text("SCOPE"),
            ];
            if self.verbose {
                columns.push(TableColumn::Number("BYTES"));
            }
            let mut table = Table::new(columns);
            for listing in &listings {
                let (keys, updated) = match &listing.state {
                    Ok((keys, updated)) => {
                        (keys.to_string(), format_second(*updated, app.output.zone()))
                    }
                    Err(error) => ("?".to_owned(), error.to_string()),
                };
                let mut row = vec![
                    listing.name.to_string(),
                    keys,
                    updated,
                    listing.scope.to_string(),
                ];
                if self.verbose {
                    row.push(listing.size_bytes.to_string());
                }
                table.push(row.iter().map(String::as_str));
            }
            print_table(&mut app.output, &table, "no banks found")?;
            for listing in listings.iter().filter(|listing| listing.is_hidden) {
                let folder = listing.folder.as_deref().unwrap_or_default();
                app.output.note(&format!(
                    "{} is also in {folder}; the bank listed above it has precedence",
                    listing.name
                ))?;
            }
            return Ok(());
        };
        let bank = bank.parse()?;
        if self.scope == Some(BankScopeFilter::All) {
            return self.show_keys(
                app,
                &bank,
                &memory_core::bank::keys_by_folder(&banks, &bank)?,
                true,
            );
        }
        let listing = memory_core::bank::keys(&banks, &bank, scope)?;
        self.show_keys(app, &bank, &[listing], false)
    }

    /// Prints the keys of a bank in each scope that contains the bank.
    fn show_keys(
        &self,
        app: &mut App,
        bank: &BankName,
        listings: &[BankKeyListing],
        with_scopes: bool,
    ) -> Result<(), Failure> {
        let entries = || {
            listings
                .iter()
                .flat_map(|listing| listing.entries.iter().map(move |entry| (listing, entry)))
        };
        if self.format == Some(BankOutputFormat::Value) {
            return entries().try_for_each(|(_, (key, _))| app.output.line(key.as_str()));
        }
        if !wants_table(self.format, &app.output) {
            let text = match listings {
                [listing] if !with_scopes => json::keys(bank, listing, self.verbose),
                all => json::keys_in_all_scopes(bank, all, self.verbose),
            };
            return app.output.json_answer(&text);
        }
        let mut columns = vec![TableColumn::Whole("KEY"), TableColumn::Whole("UPDATED")];
        if self.verbose {
            columns.extend([
                TableColumn::Whole("CREATED"),
                TableColumn::Whole("EXPIRES"),
                TableColumn::Number("BYTES"),
            ]);
        }
        if with_scopes {
            columns.push(TableColumn::Text("SCOPE"));
        }
        let in_several = with_scopes
            && listings
                .iter()
                .any(|listing| !listing.holders.others.is_empty());
        if in_several {
            columns.push(TableColumn::Whole("FOLDER"));
        }
        let mut table = Table::new(columns);
        for (listing, (key, entry)) in entries() {
            let mut row = vec![
                key.as_str().to_owned(),
                format_second(entry.updated_at, app.output.zone()),
            ];
            if self.verbose {
                let expires = entry.expires_at().map_or_else(
                    || "-".to_owned(),
                    |end| format_second(end, app.output.zone()),
                );
                row.extend([
                    format_second(entry.created_at, app.output.zone()),
                    expires,
                    entry.value.as_str().len().to_string(),
                ]);
            }
            if with_scopes {
                row.push(listing.scope.to_string());
            }
            if in_several {
                row.push(folder_label(&listing.holders));
            }
            table.push(row.iter().map(String::as_str));
        }
        print_table(&mut app.output, &table, "the bank is empty")?;
        if let ([BankKeyListing { holders, .. }], false) = (listings, with_scopes) {
            for (_, other) in &holders.others {
                app.output.note(&format!(
                    "{bank} is also in {other}; showing the one in {}",
                    holders.used
                ))?;
            }
        }
        for (key, why) in listings.iter().flat_map(|listing| &listing.damaged) {
            app.output
                .warn_incomplete(&format!("the entry '{key}' {why}"))?;
        }
        Ok(())
    }
}

/// Returns the folder cell of a bank, marked if another folder's bank of the same name is used instead.
pub(super) fn folder_label(holders: &BankFolders) -> String {
    if holders.is_hidden {
        format!("{} (not used)", holders.used)
    } else {
        holders.used.clone()
    }
}

/// Returns whether the output is a table: `--format`, else whether the output is a terminal.
pub(super) fn wants_table(format: Option<BankOutputFormat>, output: &Output) -> bool {
    match format {
        Some(format) => format == BankOutputFormat::Table,
        None => output.is_drawn(),
    }
}
