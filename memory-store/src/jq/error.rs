//! The errors of a filter.

use std::ops::Range;
use std::time::Duration;

use super::value::Val;
use super::write::excerpt;

/// The error of a filter. The messages are those of jq.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JqError {
    /// The filter is not valid jq, or refers to an undefined name.
    #[error("{message}")]
    Syntax {
        /// The message and position, followed by the line of the filter.
        message: String,
    },
    /// The input is not JSON.
    #[error("{message}")]
    Input {
        /// The message and position.
        message: String,
    },
    /// The filter failed on its input.
    #[error("{message}")]
    Runtime {
        /// The message of jq: `Cannot index number with "a"`.
        message: String,
    },
    /// The filter ended with `halt_error`.
    #[error("{message}")]
    Halted {
        /// The message from the filter.
        message: String,
        /// The exit code from the filter.
        code: i32,
    },
    /// The filter exceeded the time limit.
    #[error("the filter timed out after {limit:?}")]
    Timeout {
        /// The time limit.
        limit: Duration,
    },
    /// The filter exceeded the memory limit, its outputs a quarter of it, or its recursion was too deep.
    #[error("the filter exceeded the memory limit of {limit} bytes, or its recursion is too deep")]
    TooLarge {
        /// The memory limit in bytes.
        limit: u64,
    },
    /// Other filters took all slots.
    #[error("{running} filters run, which is the maximum, and none ended within {waited:?}")]
    Busy {
        /// The number of slots.
        running: usize,
        /// The time for which the filter waited.
        waited: Duration,
    },
    /// The process for the filter could not be started, or its output is invalid.
    #[error("cannot run the filter in a child process: {message}")]
    Process {
        /// The message of the system.
        message: String,
    },
}

/// The error of an invalid program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JqSyntaxError(pub(crate) String);

impl JqSyntaxError {
    /// Formats an error like jq: the message and position, the line, and a marker below the faulty range.
    pub(crate) fn at(program: &str, place: Range<usize>, message: &str) -> Self {
        let before = &program[..place.start];
        let line_start = before.rfind('\n').map_or(0, |index| index + 1);
        let line_end = program[place.start..]
            .find('\n')
            .map_or(program.len(), |index| place.start + index);
        let number = 1 + before.matches('\n').count();
        let column = place.start - line_start + 1;
        let line = &program[line_start..line_end];
        let indent = " ".repeat(program[line_start..place.start].chars().count());
        let marked = program
            .get(place.start..place.end.min(line_end))
            .map_or(1, |marked| marked.chars().count());
        let marks = "^".repeat(marked.max(1));
        Self(format!(
            "{message} at <top-level>, line {number}, column {column}:\n    {line}\n    {indent}{marks}"
        ))
    }
}

impl From<JqSyntaxError> for JqError {
    fn from(mistake: JqSyntaxError) -> Self {
        Self::Syntax { message: mistake.0 }
    }
}

/// A runtime error, as `try … catch` sees it: any value.
pub(crate) type JqRuntimeError = jaq_core::Error<Val>;

/// The result of an operation that may fail.
pub(crate) type JqEvalResult<T = Val> = Result<T, JqRuntimeError>;

pub(crate) fn runtime_error(message: impl Into<String>) -> JqRuntimeError {
    JqRuntimeError::new(Val::str(message))
}

/// Returns an error such as `string ("a") cannot be negated`.
pub(crate) fn type_error(value: &Val, why: &str) -> JqRuntimeError {
    runtime_error(format!("{} {why}", describe(value)))
}

/// Returns an error such as `null (null) and number (1) cannot be added`.
pub(crate) fn pair_error(left: &Val, right: &Val, why: &str) -> JqRuntimeError {
    runtime_error(format!("{} and {} {why}", describe(left), describe(right)))
}

pub(crate) fn cannot_index(value: &Val, key: &Val) -> JqRuntimeError {
    runtime_error(format!(
        "Cannot index {} with {}",
        value.kind(),
        describe(key)
    ))
}

pub(crate) fn cannot_iterate(value: &Val) -> JqRuntimeError {
    runtime_error(format!("Cannot iterate over {}", describe(value)))
}

/// Returns the type and an excerpt of a value, such as `string ("a")`.
pub(crate) fn describe(value: &Val) -> String {
    format!("{} ({})", value.kind(), excerpt(value))
}
