//! The content words of a sentence, apart from the words that request or forbid it.

use crate::language::{WORDS, unspaced};
use crate::text::{TokenKind, fold, tokenize};

/// Returns whether a sentence forbids something.
pub(super) fn is_negated(sentence: &str) -> bool {
    let text = fold(sentence);
    folded_words(sentence)
        .iter()
        .any(|word| negates(word) || word.starts_with("n'"))
        || !text.is_ascii() && unspaced(&WORDS.negating).any(|word| text.contains(word))
}

fn negates(word: &str) -> bool {
    WORDS.negating.contains(&word) || WORDS.excluding.contains(&word)
}

/// Returns the words of a sentence without those that negate it.
pub(super) fn without_negation(sentence: &str) -> String {
    let text = fold(sentence)
        .replace("no longer", "")
        .replace("do not", "");
    let words = text.split_whitespace().filter(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        !negates(word) && !["plus", "mehr"].contains(&word)
    });
    let kept = words
        .map(|word| word.strip_prefix("n'").unwrap_or(word))
        .collect::<Vec<_>>()
        .join(" ");
    if kept.is_ascii() {
        kept
    } else {
        unspaced(&WORDS.negating).fold(kept, |kept, word| kept.replace(word, ""))
    }
}

/// Returns the content words of a sentence in their order, without those for its polarity.
///
/// Opposite instructions then have the same words.
pub(super) fn content_words(sentence: &str) -> Vec<String> {
    let mut kept = String::new();
    let text = fold(sentence)
        .replace("no longer", "not")
        .replace("any more", "");
    for word in text.split_whitespace() {
        let word = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        let word = word.trim_end_matches(|letter: char| {
            !letter.is_alphanumeric() && !['+', '#'].contains(&letter)
        });
        let word = word
            .strip_prefix("n'")
            .or_else(|| word.strip_prefix("d'"))
            .unwrap_or(word);
        if !WORDS.negating.contains(&word) && !WORDS.polarity.contains(&word) {
            // `C`, `C++` and `C#` are different words.
            kept.push_str(&word.replace('+', "plus").replace('#', "sharp"));
            kept.push(' ');
        }
    }
    if !kept.is_ascii() {
        kept = unspaced(&WORDS.negating)
            .chain(unspaced(&WORDS.polarity))
            .fold(kept, |kept, word| kept.replace(word, ""));
    }
    let mut words = Vec::new();
    tokenize(&kept, &mut |token| {
        if token.kind != TokenKind::Symbol {
            words.push(token.text.to_owned());
        }
    });
    words
}

/// Returns the words of a sentence, folded and without the punctuation around them.
pub(super) fn folded_words(sentence: &str) -> Vec<String> {
    let words = sentence
        .split_whitespace()
        .map(|word| fold(word.trim_matches(|letter: char| !letter.is_alphanumeric())));
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_have_the_same_content_words() {
        for [one, other] in [
            [
                "Do not use emojis in your replies.",
                "Use emojis in your replies.",
            ],
            ["Always use tabs", "Never use tabs!"],
            ["Verwende niemals Emojis.", "Bitte verwende immer Emojis"],
            ["不要用表情符号", "请用表情符号"],
            ["No longer use emojis.", "You can use emojis again."],
        ] {
            assert_eq!(content_words(one), content_words(other), "{one} {other}");
            assert_ne!(is_negated(one), is_negated(other), "{one} {other}");
        }
        for [one, other] in [
            ["Use C for examples.", "Use C++ for examples."],
            ["Use C# for examples.", "Use C++ for examples."],
            ["Translate German to French.", "Translate French to German."],
        ] {
            assert_ne!(content_words(one), content_words(other), "{one} {other}");
        }
        assert_ne!(
            content_words("the report of the web team"),
            content_words("the report of the sales team")
        );
    }
}
