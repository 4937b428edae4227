//! Words of a sentence.

use std::ops::Range;

/// Returns the words of `text`, small, and where they stand; an apostrophe or a hyphen inside one belongs to it.
pub(super) fn words(text: &str) -> Vec<(String, Range<usize>)> {
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

/// Tells whether the words of `list` hold `word`.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == word)
}

/// Tells whether `phrase`, words with single blanks, is said in `said`, which begins and ends with a blank.
pub(super) fn says(said: &str, phrase: &str) -> bool {
    said.match_indices(phrase).any(|(at, _)| said[..at].ends_with(' ') && said[at + phrase.len()..].starts_with(' '))
}
