//! The commands on entries: `memory bank read`, `write`, `update` and `delete`.

use clap::{ArgGroup, Args};
use memory_agent::json::bank as json;
use memory_core::SecretPolicy;
use memory_core::bank::{
    Bank, BankError, BankErrorKind, BankName, BankWriteCondition, BankWriteRequest, MissingKey,
};
use memory_core::json::JsonText;

use super::common::{
    BankOutputFormat, BankScopeArg, open, parse_key, print_table, scope_choice, value, value_text,
    write_formatted, write_value,
};
use crate::app::App;
use crate::datetime::format_second;
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
        let default = self
            .default
            .as_deref()
            .map(str::parse::<JsonText>)
            .transpose();
        let default = default.map_err(|error| {
            BankError::new(BankErrorKind::InvalidArgument {
                argument: "--default",
                error,
            })
        })?;
        let Some(key) = &self.key else {
            return match (
                memory_core::bank::read_bank(&banks, &bank, scope_choice(self.scope)),
                default,
            ) {
                (Err(error), Some(default)) if is_missing(&error) => {
                    self.write_output(app, &default, &json::default_entry(&default))
                }
                (found, _) => {
                    let (scope, found) = found?;
                    if let Some(BankOutputFormat::Table) = self.format {
                        print_entries(&mut app.output, &found, self.verbose)?;
                    } else {
                        let holders = memory_core::bank::find_folders(
                            &banks,
                            &bank,
                            scope_choice(self.scope),
                        )?;
                        let verbose = self
                            .verbose
                            .then(|| json::bank_with_size(scope, &found, &holders));
                        app.output.json_answer(
                            &verbose.unwrap_or_else(|| json::bank_with_folders(&found, &holders)),
                        )?;
                    }
                    found.damaged.iter().try_for_each(|(key, why)| {
                        app.output
                            .warn_incomplete(&format!("the entry '{key}' {why}"))
                    })
                }
            };
        };
        let key = parse_key(&bank, key)?;
        let found = memory_core::bank::read(&banks, &bank, &key, scope_choice(self.scope));
        let (value, whole) = match (found, default) {
            (Err(error), Some(default)) if is_missing(&error) => {
                let whole = json::default_entry(&default);
                (default, whole)
            }
            (found, _) => {
                let found = found?;
                let whole = if self.verbose {
                    json::full_entry(&bank, &key, &found)
                } else {
                    json::entry(&found)
                };
                (found.entry.value, whole)
            }
        };
        self.write_output(app, &value, &whole)
    }

    /// Writes a value in the format of the flags; `whole` is the JSON object that contains it.
    fn write_output(&self, app: &mut App, value: &JsonText, whole: &str) -> Result<(), Failure> {
        match (self.raw.then(|| value.as_string()).flatten(), self.format) {
            (Some(text), _) => app.output.text(&format!("{text}\n")),
            (None, Some(BankOutputFormat::Value)) => write_value(&mut app.output, value),
            (None, _) if self.raw => write_value(&mut app.output, value),
            (None, format) => write_formatted(&mut app.output, format, whole, &[]),
        }
    }
}

/// Prints the entries of a bank as a table; `verbose` adds the sizes of the values.
pub(super) fn print_entries(
    output: &mut Output,
    bank: &Bank,
    verbose: bool,
) -> Result<(), Failure> {
    let size = verbose.then_some(TableColumn::Number("BYTES"));
    let columns = [
        TableColumn::Whole("KEY"),
        TableColumn::Text("VALUE"),
        TableColumn::Whole("UPDATED"),
    ];
    let mut table = Table::new(columns.into_iter().chain(size).collect::<Vec<_>>());
    for (key, entry) in &bank.entries {
        let size = verbose.then(|| entry.value.as_str().len().to_string());
        let row = [
            key.as_str(),
            &value_text(&entry.value),
            &format_second(entry.updated_at, output.zone()),
        ];
        table.push(row.into_iter().chain(size.as_deref()));
    }
    print_table(output, &table, "the bank is empty")
}

fn is_missing(error: &BankError) -> bool {
    matches!(
        error.trouble,
        BankErrorKind::BankNotFound | BankErrorKind::KeyNotFound | BankErrorKind::Expired
    )
}

/// Write a JSON value under a key; a missing bank is created
///
/// JSON: {success, key, bank, scope, operation}; operation is create or update
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct BankWriteArgs {
    /// Name of the bank
    bank: String,
    /// The key
    key: String,
    /// Value as JSON; - reads the standard input
    #[arg(allow_hyphen_values = true)]
    value: Option<String>,
    /// Scope of the bank [default: project if there is one, else user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Read the value from the standard input
    #[arg(long)]
    stdin: bool,
    /// Seconds until the entry expires
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u64>,
    /// Fail if the key exists
    #[arg(long, conflicts_with = "update_only")]
    create_only: bool,
    /// Fail if the key does not exist
    #[arg(long)]
    update_only: bool,
    /// Store the value even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
    /// Output format: json, table, or value for only the operation
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankWriteArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: BankName = self.bank.parse()?;
        let key = parse_key(&bank, &self.key)?;
        let value = value(app, self.value.as_deref(), self.stdin)
            .map_err(|failure| failure.with_bank(&bank, Some(&key)))?;
        let condition = match (self.create_only, self.update_only) {
            (true, _) => BankWriteCondition::Absent,
            (false, true) => BankWriteCondition::Present,
            (false, false) => BankWriteCondition::Any,
        };
        let (ttl, scope, secrets) = (
            self.ttl,
            scope_choice(self.scope),
            SecretPolicy::allowing(self.allow_secret),
        );
        let done = memory_core::bank::write(
            &banks,
            &BankWriteRequest {
                bank,
                key,
                value,
                ttl,
                condition,
                scope,
                secrets,
            },
        )?;
        write_formatted(
            &mut app.output,
            self.format,
            &json::write_result(&done),
            &["operation"],
        )
    }
}

/// Update the value under a key with a jq filter, such as '.count += 1'
///
/// No update is lost: the filter runs again if another process changes the value. It must return exactly one value.
///
/// JSON: {success, key, bank, scope, operation, value}
#[derive(Debug, Args)]
pub(super) struct BankUpdateArgs {
    /// Name of the bank
    bank: String,
    /// The key
    key: String,
    /// jq filter
    #[arg(allow_hyphen_values = true)]
    filter: String,
    /// Scope of the bank [default: project if the key exists there, else user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Create a missing key; the filter input is then null
    #[arg(long)]
    create: bool,
    /// Store the value even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
    /// Output format: json, table, or value for only the new value
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankUpdateArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: BankName = self.bank.parse()?;
        let key = parse_key(&bank, &self.key)?;
        let missing = if self.create {
            MissingKey::Create
        } else {
            MissingKey::Refuse
        };
        let secrets = SecretPolicy::allowing(self.allow_secret);
        let done = memory_core::bank::update(
            &banks,
            &bank,
            &key,
            &self.filter,
            scope_choice(self.scope),
            missing,
            secrets,
        )?;
        write_formatted(
            &mut app.output,
            self.format,
            &json::update_result(&done),
            &["value"],
        )
    }
}

/// Delete a key or a whole bank; `memory undo` restores it
///
/// JSON: {success, bank, scope, key?, deleted}, where deleted is key or bank
#[derive(Debug, Args)]
#[command(override_usage = "memory bank delete [OPTIONS] <BANK> <KEY|--bank>", group = ArgGroup::new("subject").args(["key", "whole"]).required(true))]
pub(super) struct BankDeleteArgs {
    /// Name of the bank
    bank: String,
    /// The key
    key: Option<String>,
    /// Scope of the bank [default: the scope that contains it, project before user]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeArg>,
    /// Delete the whole bank
    #[arg(long = "bank", id = "whole")]
    whole: bool,
    /// Delete without confirmation
    #[arg(long)]
    confirm: bool,
    /// Output format: json, table, or value for only what was deleted
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankDeleteArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let bank: BankName = self.bank.parse()?;
        if let Some(key) = &self.key {
            let key = parse_key(&bank, key)?;
            let scope = memory_core::bank::delete(&banks, &bank, &key, scope_choice(self.scope))?;
            return write_formatted(
                &mut app.output,
                self.format,
                &json::delete_result(&bank, Some(&key), scope),
                &["deleted"],
            );
        }
        if !self.confirm {
            let question = format!("Delete the whole bank {bank}?");
            let unasked = Failure::usage(
                format!("bank {bank} was not deleted: without a terminal, nobody can confirm it"),
                "add --confirm",
            );
            if !app.confirm(&question, "nothing was deleted", unasked)? {
                return Ok(());
            }
        }
        let scope = memory_core::bank::delete_bank(&banks, &bank, scope_choice(self.scope))?;
        write_formatted(
            &mut app.output,
            self.format,
            &json::delete_result(&bank, None, scope),
            &["deleted"],
        )
    }
}
