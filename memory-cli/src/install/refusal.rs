//! The reason why a file is not changed.

/// An error that leaves a file unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: Reason,
}

/// The reason why a file is left unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The file is malformed; the text is a statement about it.
    Unreadable(String),
    /// Another program has an entry of the same name, with this dotted key.
    Taken(String),
}

impl Refusal {
    /// Creates the error for a malformed file at a byte offset of `text`.
    pub(super) fn unreadable(text: &str, at: usize, what: impl Into<String>) -> Self {
        Self { line: line(text, at), reason: Reason::Unreadable(what.into()) }
    }

    /// Creates the error for the entry `key` of another program at a byte offset of `text`.
    pub(super) fn taken(text: &str, at: usize, key: impl Into<String>) -> Self {
        Self { line: line(text, at), reason: Reason::Taken(key.into()) }
    }

    /// Returns whether another program has the entry.
    pub(super) fn is_taken(&self) -> bool {
        matches!(self.reason, Reason::Taken(_))
    }
}

/// Returns the line, from 1, that contains a byte offset of `text`.
pub(super) fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
