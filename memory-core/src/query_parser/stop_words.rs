//! Stop words in English and Chinese.

use std::sync::LazyLock;

use crate::text::{TokenKind, tokenize};

word_classes! {
    /// The stop words of queries; of Chinese, their characters, all in one entry.
    StopWords {
        /// Words for memories of any subject, if a time is given: "what happened yesterday".
        event_words,
        /// Words for memories of any subject: "my notes".
        memory_words,
        /// Stop words; the English ones are in ascending order.
        words,
    }
}

static ENGLISH: LazyLock<StopWords> =
    LazyLock::new(|| StopWords::read(&[include_str!("../language/en/stop_words.json")]));

static CHINESE: LazyLock<StopWords> =
    LazyLock::new(|| StopWords::read(&[include_str!("../language/zh/stop_words.json")]));

/// Returns whether `word` is an English stop word; it must be in lower case.
pub(super) fn is_stop_word(word: &str) -> bool {
    ENGLISH.words.binary_search(&word).is_ok()
}

/// Returns whether `text` contains a word that is not a stop word.
pub(crate) fn has_content_word(text: &str) -> bool {
    let mut says = false;
    tokenize(text, &mut |token| {
        let spelled = &text[token.span.clone()];
        says |= !is_stop_token(spelled, token.kind == TokenKind::Word);
    });
    says
}

/// Returns whether `text` has no subject besides the memories themselves, as in "what did you store".
///
/// With `of_time`, the words are those of a question about a time: "what happened".
pub(crate) fn is_about_memories(text: &str, of_time: bool) -> bool {
    let (mut is_about, mut names_memories) = (true, false);
    tokenize(text, &mut |token| {
        let (spelled, is_word) = (
            text[token.span.clone()].to_lowercase(),
            token.kind == TokenKind::Word,
        );
        let is_known = if is_word {
            ENGLISH.memory_words.contains(&spelled.as_str())
                || of_time && ENGLISH.event_words.contains(&spelled.as_str())
        } else {
            spelled.chars().all(|character| {
                has_character(&CHINESE.memory_words, character)
                    || of_time && has_character(&CHINESE.event_words, character)
            })
        };
        names_memories |= is_known;
        is_about &= is_known || is_stop_token(&spelled, is_word);
    });
    is_about && names_memories
}

/// Returns whether a token consists of stop words or stop characters.
///
/// `is_word` is false for tokens of scripts without blanks.
pub(crate) fn is_stop_token(spelled: &str, is_word: bool) -> bool {
    if is_word {
        is_stop_word(&spelled.to_lowercase())
    } else {
        spelled
            .chars()
            .all(|character| has_character(&CHINESE.words, character))
    }
}

fn has_character(entries: &[&str], character: char) -> bool {
    entries.iter().any(|entry| entry.contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_in_order() {
        assert!(ENGLISH.words.is_sorted_by(|left, right| left < right));
        assert!(is_stop_word("the") && is_stop_word("what's") && !is_stop_word("rust"));
    }
}
