//! The `memory bank filter` command.

use clap::Args;
use memory_store::jq::{Form, JqError, On};

use super::answer::input;
use crate::app::App;
use crate::failure::Failure;
use crate::filtering::Filters;

/// Run a jq filter on the JSON values of the standard input, as jq itself does
///
/// What fails is told on the standard error, and the exit codes are jq's: 5 if the filter failed on some value, 3 if it is no
/// filter. It may take 5 s and 512 MB (banks.filter_timeout and banks.filter_memory in config.yaml); it reads neither files, modules nor the
/// environment.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of jq")]
pub(super) struct Filter {
    /// The filter
    #[arg(value_name = "FILTER", allow_hyphen_values = true)]
    program: String,
    /// Each value on one line
    #[arg(long = "compact-output", short)]
    compact: bool,
    /// Texts without their quotes
    #[arg(long = "raw-output", short)]
    raw: bool,
    /// Give the filter null instead of the values, which `input` and `inputs` read
    #[arg(long, short)]
    null_input: bool,
    /// Give the filter all values at once, as one array
    #[arg(long, short, conflicts_with = "null_input")]
    slurp: bool,
}

impl Filter {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let filters = Filters::of(&settings, app.environment);
        let values = input(app)?;
        let form = match (self.compact, self.raw) {
            (true, false) => Form::Compact,
            (false, false) => Form::Pretty,
            (true, true) => Form::Raw,
            (false, true) => Form::RawPretty,
        };
        let on = if self.null_input || self.slurp { On::Null } else { On::Each };
        let slurped = self.slurp.then(|| format!("[inputs] | ({}\n)", self.program));
        let program = slurped.as_deref().unwrap_or(&self.program);
        let answers = match filters.ask(program, &values, on, form) {
            Ok(answers) => answers,
            Err(error) => return Err(refuse(app, &error)?),
        };
        let mut failed = Ok(());
        for answer in answers {
            match answer {
                Ok(text) if self.raw => app.output.raw_line(&text)?,
                Ok(text) => app.output.json_text(&text)?,
                Err(error) => failed = Err(refuse(app, &error)?),
            }
        }
        failed
    }
}

/// Prints the error in the format of jq; returns the failure with the exit code of jq.
fn refuse(app: &mut App, error: &JqError) -> Result<Failure, Failure> {
    app.output.complaint(&format!("jq: error: {error}"))?;
    Ok(Failure::Filter { code: exit_code(error) })
}

/// Returns the exit code that jq uses for an error.
fn exit_code(error: &JqError) -> u8 {
    match error {
        JqError::Syntax { .. } => 3,
        JqError::Input { .. } => 2,
        JqError::Halted { code, .. } => u8::try_from(*code).unwrap_or(5),
        JqError::Runtime { .. } => 5,
        _ => 1,
    }
}
