//! Brackets that belong together.

use std::str::CharIndices;

/// A bracket in a text, and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group<'a> {
    /// All from the bracket to the one that closes it.
    Closed(&'a str),
    /// The text ends before the bracket is closed.
    Open,
}

/// Returns the outermost groups of curly and square brackets in a text. Brackets in strings do not count within a group;
/// those of the wrong kind end it.
pub(super) fn groups(text: &str) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    let mut characters = text.char_indices();
    let mut open = Vec::new();
    let mut start = 0;
    while let Some((at, character)) = characters.next() {
        match character {
            '{' | '[' => {
                if open.is_empty() {
                    start = at;
                }
                open.push(if character == '{' { '}' } else { ']' });
            }
            '}' | ']' if !open.is_empty() => {
                // Of the wrong kind, it closes all the same: what lies within is then no JSON, and is never taken for some.
                let is_right = open.pop() == Some(character);
                if !is_right {
                    open.clear();
                }
                if open.is_empty() {
                    groups.push(Group::Closed(&text[start..=at]));
                }
            }
            '"' if !open.is_empty() => skip_string(&mut characters),
            _ => {}
        }
    }
    if !open.is_empty() {
        groups.push(Group::Open);
    }
    groups
}

/// Goes on behind the string whose first quote was taken.
pub(super) fn skip_string(characters: &mut CharIndices<'_>) {
    let mut is_escaped = false;
    for (_, character) in characters.by_ref() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return,
            _ => {}
        }
    }
}
