//! Why a filter gave no answer.

use std::ops::Range;
use std::time::Duration;

/// Why a filter gave no answer. The messages are jq's own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JqError {
    /// The filter is not jq, or names what is not defined.
    #[error("{message}")]
    Syntax {
        /// What is wrong and where, with the line of the filter below it.
        message: String,
    },
    /// The input is not JSON.
    #[error("{message}")]
    Input {
        /// What is wrong and where.
        message: String,
    },
    /// The filter failed on its input.
    #[error("{message}")]
    Runtime {
        /// What jq says: `Cannot index number with "a"`.
        message: String,
    },
    /// The filter ended with `halt_error`.
    #[error("{message}")]
    Halted {
        /// What the filter gave as the reason.
        message: String,
        /// The exit code that it asked for.
        code: i32,
    },
    /// The filter took longer than it may.
    #[error("the filter did not end within {limit:?}")]
    Timeout {
        /// How long it had.
        limit: Duration,
    },
    /// The filter needed more memory than it may have, or called itself too deeply.
    #[error("the filter needs more than {limit} bytes of memory, or calls itself too deeply")]
    TooLarge {
        /// How much it had.
        limit: u64,
    },
    /// The process that was to run the filter could not be started, or does not speak our language.
    #[error("cannot run the filter in a process of its own: {message}")]
    Process {
        /// What the system said.
        message: String,
    },
}

/// What is wrong with a program, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake(pub(crate) String);

impl Mistake {
    /// In jq's layout: the message and the place, the line, and marks below what is wrong in it.
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

impl From<Mistake> for JqError {
    fn from(mistake: Mistake) -> Self {
        Self::Syntax { message: mistake.0 }
    }
}
