//! Changes of a text, and how the text is laid out.

use std::ops::Range;

/// One change of a text: what stands at a range of bytes gives way to something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// What goes.
    pub range: Range<usize>,
    /// What comes.
    pub with: String,
}

impl Edit {
    /// Puts a text in at a byte.
    pub(super) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self { range: at..at, with: with.into() }
    }

    /// Takes a range out.
    pub(super) fn remove(range: Range<usize>) -> Self {
        Self { range, with: String::new() }
    }
}

/// Returns `text` with all edits, whose ranges may lie in each other.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut edited = String::with_capacity(text.len() + edits.iter().map(|edit| edit.with.len()).sum::<usize>());
    let mut rest = 0;
    for edit in edits {
        edited.push_str(text.get(rest..edit.range.start).unwrap_or_default());
        edited.push_str(&edit.with);
        rest = rest.max(edit.range.end);
    }
    edited.push_str(&text[rest..]);
    edited
}

/// Returns the line break that the first line ends with.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns where the line begins in which a byte is.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// Returns the blanks and tabs with which the line begins in which a byte is.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
