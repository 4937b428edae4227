//! The commands on whole banks: `memory bank export`, `import` and `schema`.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::SecretPolicy;
use memory_core::bank::{BankError, BankErrorKind, BankName, BankScope, MissingBank, ScopeChoice};
use memory_core::json::{JsonText, JsonTokenKind, JsonTokens, unquote};
use memory_store::bank::parse_bank;

use super::common::{
    BankOutputFormat, BankScopeArg, BankScopeFilter, open, read_input, scope_choice,
    scope_choice_or_all, write_formatted,
};
use super::entries::print_entries;
use crate::app::App;
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
                let bank = parse_bank(&bank.parse()?, &document, app.now())?;
                return print_entries(&mut app.output, &bank, false);
            }
            return app.output.json_answer(&document);
        }
        if self.format == Some(BankOutputFormat::Table) {
            return Err(Failure::usage(
                "--format table needs one bank",
                "specify a BANK, or omit --format to export all",
            ));
        }
        let mut documents: Vec<(BankScope, BankName, String)> = Vec::new();
        let mut hidden = Vec::new();
        for listing in memory_core::bank::list(&banks, choice)? {
            let is_twice = documents
                .iter()
                .any(|(scope, name, _)| (scope, name) == (&listing.scope, &listing.name));
            if is_twice {
                hidden.push(format!(
                    "{} in {}",
                    listing.name,
                    listing.folder.unwrap_or_default()
                ));
                continue;
            }
            // A bank that cannot be exported fails the whole export, which must never omit a bank silently.
            let only = memory_core::bank::ScopeChoice::Only(listing.scope);
            let (scope, document) = memory_core::bank::export(&banks, &listing.name, only)?;
            documents.push((scope, listing.name, compact_json(&document)));
        }
        for bank in hidden {
            app.output.warn_incomplete(&format!(
                "{bank} was skipped: another folder of the same scope has a bank of that name"
            ))?;
        }
        app.output.json_answer(&json::banks(
            documents
                .iter()
                .map(|(scope, name, text)| (*scope, name, text.as_str())),
        ))
    }
}

/// Returns a document on one line if it parses as JSON, else unchanged.
fn compact_json(document: &str) -> String {
    document
        .parse::<JsonText>()
        .map_or_else(|_| document.to_owned(), |text| text.to_string())
}

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
            Some(bank) => incoming.push((
                scope_choice(self.scope),
                parse_bank(&bank.parse()?, &text, app.now())?,
            )),
            None => {
                for (scope, name, document) in find_documents(&text)? {
                    let choice = if self.scope.is_some() {
                        scope_choice(self.scope)
                    } else {
                        ScopeChoice::Only(scope)
                    };
                    incoming.push((choice, parse_bank(&name, document, app.now())?));
                }
            }
        }
        for (choice, bank) in incoming {
            let report = memory_core::bank::import(
                &banks,
                &bank,
                choice,
                SecretPolicy::allowing(self.allow_secret),
            )?;
            write_formatted(
                &mut app.output,
                self.format,
                &json::import_report(&bank.name, &report),
                &["created"],
            )?;
        }
        Ok(())
    }
}

/// Finds the banks in the output of `export --all`.
fn find_documents(text: &str) -> Result<Vec<(BankScope, BankName, &str)>, Failure> {
    let wrong = || {
        Failure::usage(
            "the input is not an export of all banks",
            "create one with `memory bank export --all`",
        )
    };
    let mut found = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let (mut begin, mut is_export) = (None, false);
    for token in JsonTokens::of(text) {
        let token = token.map_err(BankError::from)?;
        match token.kind {
            JsonTokenKind::ArrayBegins
                if token.depth < 4 && path.first().is_some_and(|first| first == "banks") =>
            {
                return Err(wrong());
            }
            JsonTokenKind::Key => {
                path.truncate(token.depth - 1);
                is_export |= token.depth == 1 && &text[token.range.clone()] == "\"banks\"";
                path.push(unquote(&text[token.range]).ok_or_else(wrong)?.into_owned());
            }
            JsonTokenKind::ObjectBegins if token.depth == 3 => begin = Some(token.range.start),
            JsonTokenKind::ObjectEnds if token.depth == 3 => {
                let [banks, scope, name] = path.get(..3).ok_or_else(wrong)? else {
                    return Err(wrong());
                };
                if banks == "banks" {
                    let scope: BankScope = scope.parse().map_err(|_| wrong())?;
                    found.push((
                        scope,
                        name.parse()?,
                        &text[begin.ok_or_else(wrong)?..token.range.end],
                    ));
                }
            }
            _ => {}
        }
    }
    if is_export { Ok(found) } else { Err(wrong()) }
}

/// Show, set or remove the JSON Schema for the values of a bank
///
/// JSON: {bank, scope, schema}; null if there is none
#[derive(Debug, Args)]
pub(super) struct BankSchemaArgs {
    /// Name of the bank
    bank: String,
    /// JSON Schema to set, or @FILE; the existing values must match it
    #[arg(long, value_name = "JSON", conflicts_with = "clear")]
    set: Option<String>,
    /// Remove the schema
    #[arg(long)]
    clear: bool,
    /// Scope of the bank [default: project before user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Output format: json, table, or value for only the schema
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankSchemaArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: BankName = self.bank.parse()?;
        let choice = scope_choice(self.scope);
        let (scope, schema) = match &self.set {
            None if !self.clear => memory_core::bank::schema(&banks, &bank, choice)?,
            None => (
                memory_core::bank::set_schema(&banks, &bank, None, choice, MissingBank::Refuse)?,
                None,
            ),
            Some(text) => {
                let schema = read_schema(text).map_err(|failure| failure.with_bank(&bank, None))?;
                (
                    memory_core::bank::set_schema(
                        &banks,
                        &bank,
                        Some(&schema),
                        choice,
                        MissingBank::Make,
                    )?,
                    Some(schema),
                )
            }
        };
        write_formatted(
            &mut app.output,
            self.format,
            &json::schema(&bank, scope, schema.as_ref()),
            &["schema"],
        )
    }
}

fn read_schema(text: &str) -> Result<JsonText, Failure> {
    let text = match text.strip_prefix('@') {
        Some(file) => {
            std::fs::read_to_string(file).map_err(Failure::file(format!("read {file}")))?
        }
        None => text.to_owned(),
    };
    Ok(text.parse::<JsonText>().map_err(|error| {
        BankError::new(BankErrorKind::InvalidArgument {
            argument: "--set",
            error,
        })
    })?)
}
