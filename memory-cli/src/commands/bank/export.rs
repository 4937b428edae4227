//! The `memory bank export` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankName, BankScope};
use memory_core::json::JsonText;
use memory_store::bank::parse_bank;

use super::common::{BankOutputFormat, BankScopeFilter, open, scope_choice_or_all, write_json};
use super::read::print_entries;
use crate::app::{App, current_time};
use crate::failure::Failure;

/// Export a bank, or all banks, to the standard output
///
/// JSON: {_meta, entries: {KEY: {value, created_at, updated_at, ttl}}}; with --all {banks: {project?: {NAME: …}, user?: {NAME: …}}}
#[derive(Debug, Args)]
pub(super) struct BankExportArgs {
    /// Name of the bank
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    bank: Option<String>,
    /// Export all banks
    #[arg(long)]
    all: bool,
    /// Scope of the bank [default: project before user; both with --all]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeFilter>,
    /// Output format: json or value (the same), or table for the keys and values of one bank
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankExportArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let choice = scope_choice_or_all(self.scope);
        if let Some(bank) = &self.bank {
            let (_, document) = memory_core::bank::export(&banks, &bank.parse()?, choice)?;
            let document = compact_json(&document);
            if self.format == Some(BankOutputFormat::Table) {
                return print_entries(&mut app.output, &parse_bank(&bank.parse()?, &document, current_time())?, false);
            }
            return write_json(&mut app.output, &document);
        }
        if self.format == Some(BankOutputFormat::Table) {
            return Err(Failure::usage("--format table needs one bank", "specify a BANK, or omit --format to export all"));
        }
        let mut documents: Vec<(BankScope, BankName, String)> = Vec::new();
        let mut hidden = Vec::new();
        for listing in memory_core::bank::list(&banks, choice)? {
            let is_twice = documents.iter().any(|(scope, name, _)| (scope, name) == (&listing.scope, &listing.name));
            if is_twice {
                hidden.push(format!("{} in {}", listing.name, listing.folder.unwrap_or_default()));
                continue;
            }
            // A bank that cannot be exported fails the whole export, which must never omit a bank silently.
            let only = memory_core::bank::ScopeChoice::Only(listing.scope);
            let (scope, document) = memory_core::bank::export(&banks, &listing.name, only)?;
            documents.push((scope, listing.name, compact_json(&document)));
        }
        for bank in hidden {
            app.output
                .warn_incomplete(&format!("{bank} was skipped: another folder of the same scope has a bank of that name"))?;
        }
        write_json(&mut app.output, &json::banks(documents.iter().map(|(scope, name, text)| (*scope, name, text.as_str()))))
    }
}

/// Returns a document on one line if it parses as JSON, else unchanged.
fn compact_json(document: &str) -> String {
    document.parse::<JsonText>().map_or_else(|_| document.to_owned(), |text| text.to_string())
}
