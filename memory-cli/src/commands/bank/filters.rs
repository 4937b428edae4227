//! The commands with filters: `memory bank query`, `search` and `filter`.

use clap::Args;
use memory_agent::json::bank as json;
use memory_core::bank::{BankQueryTarget, BankSearchFields};
use memory_store::jq::{JqError, JqInputMode, JqOutputFormat};

use super::common::{
    BankOutputFormat, BankScopeArg, BankScopeFilter, open, parse_key, print_table, read_input,
    scope_choice, scope_choice_or_all, value_text,
};
use super::list::{folder_label, wants_table};
use crate::app::App;
use crate::datetime::format_second;
use crate::failure::Failure;
use crate::jq_process::JqRunner;
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
        let key = key.map(|key| parse_key(&bank, key)).transpose()?;
        let subject = key
            .as_ref()
            .map_or(BankQueryTarget::Bank, BankQueryTarget::Key);
        let queried =
            memory_core::bank::query(&banks, &bank, subject, filter, scope_choice(self.scope))?;
        let holders = &queried.holders;
        if !holders.others.is_empty() {
            let others: Vec<_> = holders
                .others
                .iter()
                .map(|(_, folder)| folder.as_str())
                .collect();
            let text = format!(
                "using the bank in {}; '{bank}' is also in {}",
                holders.used,
                others.join(", ")
            );
            if holders.is_hidden {
                app.output.warning(&text)?;
            } else {
                app.output.note(&text)?;
            }
        }
        match self.format {
            Some(BankOutputFormat::Json) => {
                return app.output.json_answer(&json::query_results(&queried));
            }
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

/// Search keys by regular expression, and values with --value
///
/// JSON: {matches: [{bank, key, scope, folder?, used?, matched, updated_at, value?}], total, unreadable?}; matched is key
/// or value, and folder and used are present if several folders have the bank
#[derive(Debug, Args)]
pub(super) struct BankSearchArgs {
    /// Regular expression; start it with (?i) to ignore case
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Also search values, each as one line of JSON
    #[arg(long)]
    value: bool,
    /// Scope of the banks [default: all]
    #[arg(long, value_enum)]
    pub(super) scope: Option<BankScopeFilter>,
    /// Output format: json, table, or value for names and keys only [default: table at a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<BankOutputFormat>,
}

impl BankSearchArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let banks = open(app)?;
        let searched = if self.value {
            BankSearchFields::Values
        } else {
            BankSearchFields::Keys
        };
        let found = memory_core::bank::search(
            &banks,
            &self.pattern,
            searched,
            scope_choice_or_all(self.scope),
        )?;
        if self.format == Some(BankOutputFormat::Value) {
            found
                .matches
                .iter()
                .try_for_each(|one| app.output.line(&format!("{}\t{}", one.bank, one.key)))?;
        } else if wants_table(self.format, &app.output) {
            let in_several = found
                .matches
                .iter()
                .any(|one| !one.holders.others.is_empty());
            let last = in_several.then_some(TableColumn::Whole("FOLDER"));
            let columns = [
                TableColumn::Whole("BANK"),
                TableColumn::Whole("KEY"),
                TableColumn::Text("SCOPE"),
                TableColumn::Whole("UPDATED"),
            ];
            let mut table = Table::new(
                columns
                    .into_iter()
                    .chain([TableColumn::Text("MATCHED")])
                    .chain(last)
                    .collect::<Vec<_>>(),
            );
            for one in &found.matches {
                let matched = if one.by_key { "key" } else { "value" };
                let updated = format_second(one.entry.updated_at, app.output.zone());
                let row = [
                    one.bank.as_str(),
                    one.key.as_str(),
                    one.scope.as_str(),
                    &updated,
                    matched,
                ];
                let place = in_several.then(|| folder_label(&one.holders));
                table.push(row.into_iter().chain(place.as_deref()));
            }
            print_table(&mut app.output, &table, "no matches found")?;
        } else {
            app.output
                .json_answer(&json::search_results(&found, searched))?;
        }
        for error in &found.unreadable {
            app.output.warn_incomplete(&error.to_string())?;
        }
        Ok(())
    }
}

/// Run a jq filter on JSON values from the standard input, like jq
///
/// Errors are printed to standard error, and the exit codes are those of jq: 5 if the filter failed on a value, 3 for an
/// invalid filter. The limits are 5 s and 512 MB (banks.filter_timeout and banks.filter_memory in config.yaml). A filter
/// cannot read files, modules or the environment.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of jq")]
pub(super) struct BankFilterArgs {
    /// The filter
    #[arg(value_name = "FILTER", allow_hyphen_values = true)]
    program: String,
    /// Print each value on one line
    #[arg(long = "compact-output", short)]
    compact: bool,
    /// Print strings without quotes
    #[arg(long = "raw-output", short)]
    raw: bool,
    /// Use null as the input; `input` and `inputs` read the values
    #[arg(long, short)]
    null_input: bool,
    /// Combine all values into one array as the input
    #[arg(long, short, conflicts_with = "null_input")]
    slurp: bool,
}

impl BankFilterArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let filters = JqRunner::of(&settings);
        let values = read_input(app)?;
        let form = match (self.compact, self.raw) {
            (true, false) => JqOutputFormat::Compact,
            (false, false) => JqOutputFormat::Pretty,
            (true, true) => JqOutputFormat::Raw,
            (false, true) => JqOutputFormat::RawPretty,
        };
        let on = if self.null_input || self.slurp {
            JqInputMode::Null
        } else {
            JqInputMode::Each
        };
        let slurped = self
            .slurp
            .then(|| format!("[inputs] | ({}\n)", self.program));
        let program = slurped.as_deref().unwrap_or(&self.program);
        let answers = match filters.evaluate(program, &values, on, form) {
            Ok(answers) => answers,
            Err(error) => return Err(report_jq_error(app, &error)?),
        };
        let mut failed = Ok(());
        for answer in answers {
            match answer {
                Ok(text) if self.raw => app.output.raw_line(&text)?,
                Ok(text) => app.output.json_text(&text)?,
                Err(error) => failed = Err(report_jq_error(app, &error)?),
            }
        }
        failed
    }
}

/// Prints the error in the format of jq; returns the failure with the exit code of jq.
fn report_jq_error(app: &mut App, error: &JqError) -> Result<Failure, Failure> {
    app.output.error_line(&format!("jq: error: {error}"))?;
    Ok(Failure::Filter {
        code: jq_exit_code(error),
    })
}

/// Returns the exit code that jq uses for an error.
fn jq_exit_code(error: &JqError) -> u8 {
    match error {
        JqError::Syntax { .. } => 3,
        JqError::Input { .. } => 2,
        JqError::Halted { code, .. } => u8::try_from(*code).unwrap_or(5),
        JqError::Runtime { .. } => 5,
        _ => 1,
    }
}
