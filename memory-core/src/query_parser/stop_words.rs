//! Stop words in English and Chinese.

use crate::text::{TokenKind, tokenize};

/// Returns whether `word` is an English stop word; it must be in lower case.
pub(super) fn is_stop_word(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
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

/// Returns whether the only words of `text` with content ask for memories of any subject, as in "what did you store".
pub(crate) fn is_about_memories(text: &str) -> bool {
    let (mut is_about, mut names_memories) = (true, false);
    tokenize(text, &mut |token| {
        let (spelled, is_word) = (
            text[token.span.clone()].to_lowercase(),
            token.kind == TokenKind::Word,
        );
        let is_known = if is_word {
            MEMORY_WORDS.contains(&spelled.as_str())
        } else {
            spelled
                .chars()
                .all(|character| MEMORY_HAN.contains(character))
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
        spelled.chars().all(|character| HAN.contains(character))
    }
}

/// Chinese stop characters.
const HAN: &str = "的了我是有在吗嗎呢啊和与與关于關於";

/// English words that ask for memories of any subject.
const MEMORY_WORDS: [&str; 27] = [
    "add",
    "added",
    "anything",
    "everything",
    "know",
    "known",
    "learn",
    "learned",
    "list",
    "memories",
    "memory",
    "new",
    "note",
    "noted",
    "notes",
    "remember",
    "remembered",
    "save",
    "saved",
    "show",
    "store",
    "stored",
    "tell",
    "things",
    "write",
    "written",
    "wrote",
];

/// Chinese characters of words that ask for memories of any subject.
const MEMORY_HAN: &str = "记記住忆憶知道存储儲保什么麼哪些笔筆新了我的你您都有";

/// English stop words, in ascending order.
const WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren't",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "can't",
    "could",
    "couldn't",
    "d",
    "did",
    "didn't",
    "do",
    "does",
    "doesn't",
    "doing",
    "don",
    "don't",
    "down",
    "during",
    "each",
    "ever",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadn't",
    "has",
    "hasn't",
    "have",
    "haven't",
    "having",
    "he",
    "he's",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "how's",
    "i",
    "i'd",
    "i'll",
    "i'm",
    "i've",
    "if",
    "in",
    "into",
    "is",
    "isn't",
    "it",
    "it's",
    "its",
    "itself",
    "just",
    "let's",
    "ll",
    "m",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "o",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "per",
    "re",
    "s",
    "same",
    "shall",
    "she",
    "she's",
    "should",
    "shouldn't",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "that's",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "there's",
    "these",
    "they",
    "they'd",
    "they'll",
    "they're",
    "they've",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "upon",
    "ve",
    "very",
    "via",
    "was",
    "wasn't",
    "we",
    "we'd",
    "we'll",
    "we're",
    "we've",
    "were",
    "weren't",
    "what",
    "what's",
    "when",
    "when's",
    "where",
    "where's",
    "which",
    "while",
    "who",
    "who's",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "won't",
    "would",
    "wouldn't",
    "y",
    "yet",
    "you",
    "you'd",
    "you'll",
    "you're",
    "you've",
    "your",
    "yours",
    "yourself",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_in_order() {
        assert!(WORDS.is_sorted_by(|left, right| left < right));
        assert!(is_stop_word("the") && is_stop_word("what's") && !is_stop_word("rust"));
    }
}
