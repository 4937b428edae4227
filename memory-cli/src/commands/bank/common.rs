//! Scopes, values and output that the bank commands share.

use clap::ValueEnum;
use memory_core::bank::{BankError, BankErrorKind, BankName, BankScope, Banks, Key, ScopeChoice};
use memory_core::json::JsonText;

use crate::app::App;
use crate::banks;
use crate::failure::Failure;
use crate::print::{Output, Table, TableColumn};

/// The scope of a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BankScopeArg {
    User,
    Project,
}

/// The scopes of banks, possibly all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BankScopeFilter {
    User,
    Project,
    All,
}

/// The output format of a bank command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BankOutputFormat {
    /// The complete result as JSON.
    Json,
    /// A table.
    Table,
    /// Only the main value of the result.
    Value,
}

/// Returns the scope that a command uses: the one in `--scope`, else the detected one.
pub(super) fn scope_choice(scope: Option<BankScopeArg>) -> ScopeChoice {
    match scope {
        None => ScopeChoice::Detected,
        Some(BankScopeArg::User) => ScopeChoice::Only(BankScope::User),
        Some(BankScopeArg::Project) => ScopeChoice::Only(BankScope::Project),
    }
}

/// Returns the scope that a command uses: the one in `--scope`, else all.
pub(super) fn scope_choice_or_all(scope: Option<BankScopeFilter>) -> ScopeChoice {
    match scope {
        None | Some(BankScopeFilter::All) => ScopeChoice::Detected,
        Some(BankScopeFilter::User) => ScopeChoice::Only(BankScope::User),
        Some(BankScopeFilter::Project) => ScopeChoice::Only(BankScope::Project),
    }
}

/// Parses a key of `bank`.
pub(super) fn parse_key(bank: &BankName, key: &str) -> Result<Key, BankError> {
    key.parse()
        .map_err(|error: BankError| error.with_bank(bank.as_str(), None))
}

/// Opens the banks.
pub(super) fn open(app: &mut App) -> Result<Banks, Failure> {
    let settings = app.settings()?;
    banks::open(&settings, "cli")
}

/// Writes a JSON object in a format.
///
/// `value` writes the first member in `values` that the object has. `table` writes a row for each member.
pub(super) fn write_formatted(
    output: &mut Output,
    format: Option<BankOutputFormat>,
    json: &str,
    values: &[&str],
) -> Result<(), Failure> {
    let members = || {
        json.parse::<JsonText>()
            .ok()
            .and_then(|text| text.members())
            .unwrap_or_default()
    };
    match format {
        None | Some(BankOutputFormat::Json) => output.json_answer(json),
        Some(BankOutputFormat::Value) => {
            let members = members();
            let found = values
                .iter()
                .find_map(|name| members.iter().find(|(member, _)| member == name));
            found.map_or(Ok(()), |(_, value)| write_value(output, value))
        }
        Some(BankOutputFormat::Table) => {
            let mut table = Table::new([TableColumn::Text("FIELD"), TableColumn::Text("VALUE")]);
            for (name, value) in &members() {
                table.push([name.as_str(), &value_text(value)]);
            }
            print_table(output, &table, "nothing to show")
        }
    }
}

/// Writes a JSON value without the object around it.
pub(super) fn write_value(output: &mut Output, value: &JsonText) -> Result<(), Failure> {
    output.json_answer(value.as_str())
}

/// Returns a value as the text of a table cell: a string without its quotes, any other value as JSON.
pub(super) fn value_text(value: &JsonText) -> String {
    value.as_string().unwrap_or_else(|| value.to_string())
}

/// Parses the value argument, or the standard input if the argument is `-` or `from_stdin` is set.
pub(super) fn value(
    app: &mut App,
    typed: Option<&str>,
    from_stdin: bool,
) -> Result<JsonText, Failure> {
    let text = match typed {
        Some(typed) if !from_stdin && typed != "-" => typed.to_owned(),
        Some(typed) if from_stdin && typed != "-" => {
            return Err(Failure::usage(
                "the value is specified twice",
                "omit the value or --stdin",
            ));
        }
        _ if from_stdin || typed.is_some() => read_input(app)?,
        _ => {
            return Err(Failure::usage(
                "no value specified",
                "pass it after the key, or pipe it with --stdin",
            ));
        }
    };
    Ok(text.parse::<JsonText>().map_err(BankError::from)?)
}

/// Reads the standard input as UTF-8 text.
pub(super) fn read_input(app: &mut App) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    app.output
        .input()
        .read_to_end(&mut bytes)
        .map_err(Failure::file("read the standard input"))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let what = memory_core::json::JsonError::Syntax {
            at,
            what: "the text is not UTF-8",
        };
        BankError::new(BankErrorKind::InvalidJson(what)).into()
    })
}

/// Prints a table, or `otherwise` as a note if it is empty. The table has its header also in a pipe.
pub(super) fn print_table(
    output: &mut Output,
    table: &Table,
    otherwise: &str,
) -> Result<(), Failure> {
    if table.is_empty() {
        output.note(otherwise)?;
    }
    if output.is_drawn() {
        output.table(table)
    } else {
        output.table_with_heading(table)
    }
}
