//! The `memory bank filter` command.

use clap::Args;
use memory_store::jq::{JqError, JqInputMode, JqOutputFormat};

use super::common::read_input;
use crate::app::App;
use crate::failure::Failure;
use crate::jq_process::JqRunner;

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
        let on = if self.null_input || self.slurp { JqInputMode::Null } else { JqInputMode::Each };
        let slurped = self.slurp.then(|| format!("[inputs] | ({}\n)", self.program));
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
    Ok(Failure::Filter { code: jq_exit_code(error) })
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
