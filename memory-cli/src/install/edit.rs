//! Edits of a text, helpers for its layout, and the reason why a file is not edited.

use std::ops::Range;

/// A replacement of a range of bytes in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextEdit {
    /// The range to replace.
    pub range: Range<usize>,
    /// The replacement.
    pub with: String,
}

impl TextEdit {
    /// Inserts a text at a byte offset.
    pub(super) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self {
            range: at..at,
            with: with.into(),
        }
    }

    /// Removes a range.
    pub(super) fn remove(range: Range<usize>) -> Self {
        Self {
            range,
            with: String::new(),
        }
    }
}

/// Returns `text` with all edits applied. The ranges may overlap.
pub(super) fn apply_edits(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut edited =
        String::with_capacity(text.len() + edits.iter().map(|edit| edit.with.len()).sum::<usize>());
    let mut rest = 0;
    for edit in edits {
        edited.push_str(text.get(rest..edit.range.start).unwrap_or_default());
        edited.push_str(&edit.with);
        rest = rest.max(edit.range.end);
    }
    edited.push_str(&text[rest..]);
    edited
}

/// Returns the line break of the first line; `\n` by default.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the end of the line that contains a byte offset, including its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Returns the start of the line that contains a byte offset.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// Returns the spaces and tabs at the start of the line that contains a byte offset.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

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
    /// Another program has an entry of the same name.
    Taken {
        /// The dotted key of the entry.
        key: String,
        /// The command or address in the entry.
        content: String,
    },
    /// This program has an entry of another name.
    OtherName {
        /// The name of the entry.
        name: String,
    },
}

impl ClientFileError {
    /// Creates the error for a malformed file at a byte offset of `text`.
    pub(super) fn malformed(text: &str, at: usize, what: impl Into<String>) -> Self {
        Self {
            line: line_number(text, at),
            reason: ClientFileReason::Unreadable(what.into()),
        }
    }

    /// Creates the error for the entry `key` of another program at a byte offset of `text`.
    pub(super) fn foreign_entry(text: &str, at: usize, key: String, content: String) -> Self {
        Self {
            line: line_number(text, at),
            reason: ClientFileReason::Taken { key, content },
        }
    }

    /// Returns whether another program has the entry.
    pub(super) fn is_foreign_entry(&self) -> bool {
        matches!(self.reason, ClientFileReason::Taken { .. })
    }
}

/// Returns the line, from 1, that contains a byte offset of `text`.
pub(super) fn line_number(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
