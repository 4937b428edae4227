//! What is wrong with a file, before it is known which file it is.

use memory_core::{Code, Problem};

/// What is wrong with a file, before it is known which file it is.
#[derive(Debug)]
pub(super) struct Fault {
    /// The line of the file, counted from 1, if it can be told.
    pub(super) line: Option<usize>,
    /// What is wrong, as a statement.
    pub(super) what: String,
    /// What to do about it.
    pub(super) hint: &'static str,
}

impl Fault {
    /// Says what is wrong, where, and what to do about it.
    pub(super) fn new(line: impl Into<Option<usize>>, what: impl Into<String>, hint: &'static str) -> Self {
        Self { line: line.into(), what: what.into(), hint }
    }

    /// Says it of the file at `path`.
    pub(super) fn of(self, path: &str) -> Problem {
        Problem { code: Code::FileDamaged, path: path.to_owned(), line: self.line, what: self.what, hint: Some(self.hint) }
    }
}
