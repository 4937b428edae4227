//! The errors of a filter.

use std::ops::Range;
use std::time::Duration;

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
    /// The filter exceeded the memory limit, or its recursion was too deep.
    #[error("the filter exceeded the memory limit of {limit} bytes, or its recursion is too deep")]
    TooLarge {
        /// The memory limit in bytes.
        limit: u64,
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
        let line_end = program[place.start..].find('\n').map_or(program.len(), |index| place.start + index);
        let number = 1 + before.matches('\n').count();
        let column = place.start - line_start + 1;
        let line = &program[line_start..line_end];
        let indent = " ".repeat(program[line_start..place.start].chars().count());
        let marked = program.get(place.start..place.end.min(line_end)).map_or(1, |marked| marked.chars().count());
        let marks = "^".repeat(marked.max(1));
        Self(format!("{message} at <top-level>, line {number}, column {column}:\n    {line}\n    {indent}{marks}"))
    }
}

impl From<JqSyntaxError> for JqError {
    fn from(mistake: JqSyntaxError) -> Self {
        Self::Syntax { message: mistake.0 }
    }
}
