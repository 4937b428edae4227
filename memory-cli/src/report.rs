//! What is shown when something went wrong.

use std::error::Error;
use std::io;

use memory_agent::json;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::Output;

/// Says why a command failed, and returns the number with which the program ends.
///
/// People read it on the standard error; programs that asked for JSON, as `{"error": {…}}` on the standard output, which
/// holds nothing else then (save the lines of an export that went before). That this stream fails, or that what was printed there is no
/// whole answer, is told on the other.
pub(crate) fn failure(failure: &Failure, output: &mut Output) -> ExitCode {
    if failure.is_closed_pipe() {
        return ExitCode::Done;
    }
    if failure.is_told() {
        return failure.exit_code();
    }
    // When the streams themselves are gone, the number is all that is left to say.
    let is_for_programs = output.is_json() && !matches!(failure, Failure::Output(_) | Failure::BrokenOff { .. });
    let _ = if is_for_programs { for_programs(failure, output) } else { for_people(failure, output) };
    failure.exit_code()
}

fn for_programs(failure: &Failure, output: &mut Output) -> io::Result<()> {
    if failure.is_in_the_answer() {
        return Ok(());
    }
    if let Failure::Bank(error) = failure {
        return output.json_text(&json::bank::error(error));
    }
    let mut message = failure.to_string();
    for cause in causes(failure) {
        message.push_str(": ");
        message.push_str(&cause);
    }
    output.json(&json::error(failure.code(), &message, failure.hint().as_deref()))
}

fn for_people(failure: &Failure, output: &mut Output) -> io::Result<()> {
    output.error(&failure.code().to_lowercase(), &failure.to_string())?;
    for cause in causes(failure) {
        output.complaint(&format!("  because: {cause}"))?;
    }
    failure.hint().map_or(Ok(()), |hint| output.hint(&hint))
}

fn causes(failure: &Failure) -> Vec<String> {
    let mut causes = Vec::new();
    let mut next = failure.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes
}
