//! A defect of a file, without the path of the file.

use memory_core::{Code, Problem};

/// A defect of a file, without the path of the file.
#[derive(Debug)]
pub(super) struct FileDefect {
    /// The line of the file, counted from 1, if it can be determined.
    pub(super) line: Option<usize>,
    /// The defect, as a statement.
    pub(super) what: String,
    /// The advice for the user.
    pub(super) hint: &'static str,
}

impl FileDefect {
    /// Creates a fault.
    pub(super) fn new(line: impl Into<Option<usize>>, what: impl Into<String>, hint: &'static str) -> Self {
        Self { line: line.into(), what: what.into(), hint }
    }

    /// Converts the fault to a [`Problem`] of the file at `path`.
    pub(super) fn of(self, path: &str) -> Problem {
        Problem { code: Code::FileDamaged, path: path.to_owned(), line: self.line, what: self.what, hint: Some(self.hint) }
    }
}
