//! Splits a sentence into words.

use std::ops::Range;

/// Returns the words of `text` in lower case, with their ranges.
///
/// Apostrophes and hyphens inside a word belong to it.
pub(super) fn split_words(text: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut start = None;
    let mut end = |start: &mut Option<usize>, at: usize| {
        if let Some(from) = start.take() {
            let word = text[from..at].trim_matches(['\'', '’', '-']);
            let at = from + text[from..at].find(word).unwrap_or_default();
            if !word.is_empty() {
                found.push((word.to_lowercase().replace('’', "'"), at..at + word.len()));
            }
        }
    };
    for (at, character) in text.char_indices() {
        if character.is_alphanumeric() || matches!(character, '\'' | '’' | '-') {
            start.get_or_insert(at);
        } else {
            end(&mut start, at);
        }
    }
    end(&mut start, text.len());
    found
}

/// Returns whether the space-separated `list` contains `word`.
pub(super) fn list_contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == word)
}

/// Returns whether `said` contains `phrase` as whole words; `said` must start and end with a space.
pub(super) fn contains_phrase(said: &str, phrase: &str) -> bool {
    said.match_indices(phrase).any(|(at, _)| said[..at].ends_with(' ') && said[at + phrase.len()..].starts_with(' '))
}
