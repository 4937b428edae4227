//! Why a file is left alone.

/// Why a file is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The line, counted from 1.
    pub line: usize,
    /// The reason.
    pub reason: Reason,
}

/// The reason to leave a file alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It is not what it should be: a statement.
    Unreadable(String),
    /// Another program's entry bears our name: its key, with dots.
    Taken(String),
}

impl Refusal {
    /// Says that the file is not what it should be at a byte of `text`.
    pub(super) fn unreadable(text: &str, at: usize, what: impl Into<String>) -> Self {
        Self { line: line(text, at), reason: Reason::Unreadable(what.into()) }
    }

    /// Says that the entry `key`, at a byte of `text`, is another program's.
    pub(super) fn taken(text: &str, at: usize, key: impl Into<String>) -> Self {
        Self { line: line(text, at), reason: Reason::Taken(key.into()) }
    }

    /// Tells whether our place is taken.
    pub(super) fn is_taken(&self) -> bool {
        matches!(self.reason, Reason::Taken(_))
    }
}

/// Returns the line, counted from 1, in which a byte of `text` is.
pub(super) fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
