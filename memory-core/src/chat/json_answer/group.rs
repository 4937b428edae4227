//! Finds matching brackets in a text.

use std::str::CharIndices;

/// A bracketed part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BracketGroup<'a> {
    /// The text from the opening bracket to its closing bracket.
    Closed(&'a str),
    /// The text ends before the bracket is closed.
    Open,
}

/// Returns the outermost groups of curly and square brackets in a text.
///
/// Within a group, brackets in strings are skipped, and a closing bracket of the wrong kind ends the group.
pub(super) fn find_groups(text: &str) -> Vec<BracketGroup<'_>> {
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
                // A bracket of the wrong kind ends the group; its content is then invalid JSON and is never parsed as a value.
                let is_right = open.pop() == Some(character);
                if !is_right {
                    open.clear();
                }
                if open.is_empty() {
                    groups.push(BracketGroup::Closed(&text[start..=at]));
                }
            }
            '"' if !open.is_empty() => skip_string(&mut characters),
            _ => {}
        }
    }
    if !open.is_empty() {
        groups.push(BracketGroup::Open);
    }
    groups
}

/// Advances past the rest of a string after its opening quote.
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
