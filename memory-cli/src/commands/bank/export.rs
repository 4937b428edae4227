//! `memory bank export`

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::json::JsonText;

use super::answer::{ScopesArg, choice_of_all, open, put};
use crate::app::App;
use crate::failure::Failure;

/// Write a bank, or all of them, to the standard output
///
/// JSON: {_meta, entries: {KEY: {value, created_at, updated_at, ttl}}}; with --all {banks: {project?: {NAME: …}, user?: {NAME: …}}}
#[derive(Debug, Args)]
pub(super) struct Export {
    /// Which bank
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    bank: Option<String>,
    /// All banks
    #[arg(long)]
    all: bool,
    /// Whose bank [default: the project's, else yours; with --all both]
    #[arg(long, value_enum)]
    scope: Option<ScopesArg>,
}

impl Export {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let choice = choice_of_all(self.scope);
        if let Some(bank) = &self.bank {
            let (_, document) = memory_core::bank::export(&banks, &bank.parse()?, choice)?;
            let document = one_line(&document);
            return put(&mut app.output, &document);
        }
        let mut documents = Vec::new();
        for listing in memory_core::bank::list(&banks, choice)? {
            // An export that leaves one out without a word would be none.
            let only = memory_core::bank::ScopeChoice::Only(listing.scope);
            let (scope, document) = memory_core::bank::export(&banks, &listing.name, only)?;
            documents.push((scope, listing.name, one_line(&document)));
        }
        put(&mut app.output, &json::banks(documents.iter().map(|(scope, name, text)| (*scope, name, text.as_str()))))
    }
}

/// Returns a document without spaces, if it is one of ours to the last value; else as it is.
fn one_line(document: &str) -> String {
    document.parse::<JsonText>().map_or_else(|_| document.to_owned(), |text| text.to_string())
}
