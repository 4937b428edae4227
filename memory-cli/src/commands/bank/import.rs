//! The `memory bank import` command.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankError, BankName, BankScope, ScopeChoice};
use memory_core::json::{JsonTokenKind, JsonTokens, unquote};
use memory_store::bank::parse_bank;

use super::common::{BankOutputFormat, BankScopeArg, open, read_input, scope_choice, secret_policy, write_formatted};
use crate::app::{App, current_time};
use crate::failure::Failure;

/// Import entries from an export on the standard input
///
/// All entries are imported, or none. Keys that are not in the export remain unchanged; `memory undo` restores replaced
/// values.
///
/// JSON: {success, bank, scope, created, updated, unchanged}, one line per bank
#[derive(Debug, Args)]
pub(super) struct BankImportArgs {
    /// Name of the target bank
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    bank: Option<String>,
    /// Import the output of export --all; each bank keeps its name and scope
    #[arg(long)]
    all: bool,
    /// Scope of the bank [default: project if there is one, else user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Import values even if they seem to contain a credential
    #[arg(long)]
    allow_secret: bool,
    /// Output format: json, table, or value for only the number of new keys
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankImportArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let text = read_input(app)?;
        let mut incoming = Vec::new();
        match &self.bank {
            Some(bank) => incoming.push((scope_choice(self.scope), parse_bank(&bank.parse()?, &text, current_time())?)),
            None => {
                for (scope, name, document) in find_documents(&text)? {
                    let choice = if self.scope.is_some() { scope_choice(self.scope) } else { ScopeChoice::Only(scope) };
                    incoming.push((choice, parse_bank(&name, document, current_time())?));
                }
            }
        }
        for (choice, bank) in incoming {
            let report = memory_core::bank::import(&banks, &bank, choice, secret_policy(self.allow_secret))?;
            write_formatted(&mut app.output, self.format, &json::import_report(&bank.name, &report), &["created"])?;
        }
        Ok(())
    }
}

/// Finds the banks in the output of `export --all`.
fn find_documents(text: &str) -> Result<Vec<(BankScope, BankName, &str)>, Failure> {
    let wrong = || Failure::usage("the input is not an export of all banks", "create one with `memory bank export --all`");
    let mut found = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let (mut begin, mut is_export) = (None, false);
    for token in JsonTokens::of(text) {
        let token = token.map_err(BankError::from)?;
        match token.kind {
            JsonTokenKind::ArrayBegins if token.depth < 4 && path.first().is_some_and(|first| first == "banks") => {
                return Err(wrong());
            }
            JsonTokenKind::Key => {
                path.truncate(token.depth - 1);
                is_export |= token.depth == 1 && &text[token.range.clone()] == "\"banks\"";
                path.push(unquote(&text[token.range]).ok_or_else(wrong)?.into_owned());
            }
            JsonTokenKind::ObjectBegins if token.depth == 3 => begin = Some(token.range.start),
            JsonTokenKind::ObjectEnds if token.depth == 3 => {
                let [banks, scope, name] = path.get(..3).ok_or_else(wrong)? else { return Err(wrong()) };
                if banks == "banks" {
                    let scope: BankScope = scope.parse().map_err(|_| wrong())?;
                    found.push((scope, name.parse()?, &text[begin.ok_or_else(wrong)?..token.range.end]));
                }
            }
            _ => {}
        }
    }
    if is_export { Ok(found) } else { Err(wrong()) }
}
