//! Reporting of errors, and the exit codes of the program.

use std::error::Error;

use memory_agent::json;
use memory_core::bank::BankScope;
use memory_core::text::format_error_chain;
use memory_core::{Fault, ToolError};
use serde_json::Value;

use crate::failure::Failure;
use crate::print::Output;

/// Prints the error of a command and returns the exit code.
///
/// For people it is printed to standard error. For programs with JSON errors it is printed as `{"error": {…}}` to
/// standard output, which then contains nothing else (except for the lines of a partial export). An error of standard
/// output itself, or of a partially printed result, always goes to standard error.
pub(crate) fn report_failure(failure: &Failure, output: &mut Output) -> ExitCode {
    let (scope, failure) = match failure {
        Failure::InScope { scope, failure } => (Some(*scope), failure.as_ref()),
        failure => (None, failure),
    };
    if failure.is_closed_pipe() {
        return ExitCode::Done;
    }
    if failure.is_printed() {
        return failure.into();
    }
    // If both streams are closed, only the exit code remains.
    let is_for_programs = output.has_json_errors()
        && !matches!(failure, Failure::Output(_) | Failure::BrokenOff { .. });
    let _ = if is_for_programs {
        write_json_error(failure, scope, output)
    } else {
        write_text_error(failure, output)
    };
    failure.into()
}

fn write_json_error(
    failure: &Failure,
    scope: Option<BankScope>,
    output: &mut Output,
) -> Result<(), Failure> {
    if failure.is_in_output() {
        return Ok(());
    }
    if let Failure::Bank(error) = failure {
        let hint = error
            .hint()
            .map(|hint| output.adapt_commands(&hint).into_owned());
        return output.json_text(&json::bank::error(error, hint));
    }
    if let Failure::Tool(error) = failure {
        let own = |text: &str| output.adapt_commands(text).into_owned();
        let error = ToolError {
            message: own(&error.message),
            hint: error.hint.as_deref().map(own),
            ..error.clone()
        };
        return output.json(&json::tool_error(&error));
    }
    output.json(&error_json(failure, scope, output))
}

/// Returns `{"error": {…}}` for an error, with its causes and its hint.
pub(crate) fn error_json(failure: &Failure, scope: Option<BankScope>, output: &Output) -> Value {
    let hint = failure
        .hint()
        .map(|hint| output.adapt_commands(&hint).into_owned());
    let mut shape = json::error(failure.code(), &format_error_chain(failure), None);
    if let Some(scope) = scope {
        shape["error"]["scope"] = scope.as_str().into();
    }
    if let Some(hint) = hint {
        shape["error"]["hint"] = hint.into();
    }
    shape
}

/// Prints an error for people, with its causes and its hint.
pub(crate) fn write_text_error(failure: &Failure, output: &mut Output) -> Result<(), Failure> {
    output.error(&failure.code().to_lowercase(), &failure.to_string())?;
    let causes = std::iter::successors(failure.source(), |&cause| cause.source());
    for cause in causes {
        output.error_line(&format!("  because: {cause}"))?;
    }
    failure.hint().map_or(Ok(()), |hint| output.hint(&hint))
}

/// The exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Success.
    Done,
    /// The operation failed.
    Failed,
    /// The arguments or the input are invalid.
    Usage,
    /// A named object does not exist.
    NotFound,
    /// Another process changed the object first.
    Conflict,
    /// Data on disk is damaged.
    Damaged,
    /// The exit code of a filter, as jq defines it.
    Asked(u8),
}

impl From<Fault> for ExitCode {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Caller => Self::Usage,
            Fault::Missing => Self::NotFound,
            Fault::Conflict => Self::Conflict,
            Fault::Damaged => Self::Damaged,
            Fault::Machine => Self::Failed,
        }
    }
}

impl From<&Failure> for ExitCode {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Filter { code } => Self::Asked(*code),
            failure => failure.core_code().fault().into(),
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(match code {
            ExitCode::Done => 0,
            ExitCode::Failed => 1,
            ExitCode::Usage => 2,
            ExitCode::NotFound => 3,
            ExitCode::Conflict => 4,
            ExitCode::Damaged => 5,
            ExitCode::Asked(number) => number,
        })
    }
}
