//! The reason why a file is not changed.

/// An error that leaves a file unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientFileError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: ClientFileReason,
}

/// The reason why a file is left unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientFileReason {
    /// The file is malformed; the text is a statement about it.
    Unreadable(String),
    /// Another program has an entry of the same name, with this dotted key.
    Taken(String),
}

impl ClientFileError {
    /// Creates the error for a malformed file at a byte offset of `text`.
    pub(super) fn malformed(text: &str, at: usize, what: impl Into<String>) -> Self {
        Self { line: line_number(text, at), reason: ClientFileReason::Unreadable(what.into()) }
    }

    /// Creates the error for the entry `key` of another program at a byte offset of `text`.
    pub(super) fn foreign_entry(text: &str, at: usize, key: impl Into<String>) -> Self {
        Self { line: line_number(text, at), reason: ClientFileReason::Taken(key.into()) }
    }

    /// Returns whether another program has the entry.
    pub(super) fn is_foreign_entry(&self) -> bool {
        matches!(self.reason, ClientFileReason::Taken(_))
    }
}

/// Returns the line, from 1, that contains a byte offset of `text`.
pub(super) fn line_number(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
