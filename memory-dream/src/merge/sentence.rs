//! Splits text into sentences and normalises them for comparison.

use std::ops::Range;

use memory_core::wikilink::blank_code;

use crate::language::WORDS;

/// Width in columns from which a line break is assumed to be a soft wrap.
const FULL_LINE: usize = 50;

/// Returns the ranges of the sentences of a paragraph, in order, without surrounding whitespace.
///
/// A sentence ends at `.`, `!`, `?` or `…` before whitespace, at `。！？；｡．` anywhere, and at the end of a line that is not full. No sentence
/// ends within code, after an abbreviation or an initial, or after a number that starts it.
pub(crate) fn sentence_ranges(paragraph: &str) -> Vec<Range<usize>> {
    let prose = blank_code(paragraph);
    let mut found = Vec::new();
    let mut start = 0;
    let mut characters = prose.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let mut end = at + character.len_utf8();
        let ends = match character {
            '。' | '！' | '？' | '；' | '｡' | '．' => {
                end = closing_end(&prose, end);
                true
            }
            '.' | '!' | '?' | '…' => {
                end = closing_end(&prose, end);
                let is_last = prose[end..].chars().next().is_none_or(char::is_whitespace);
                is_last && !(character == '.' && continues_sentence(&prose[start..at]))
            }
            '\n' => line_ends_sentence(&prose[..at], &prose[end..]),
            _ => false,
        };
        while characters.next_if(|(next, _)| *next < end).is_some() {}
        if ends {
            push_trimmed(paragraph, start..end, &mut found);
            start = end;
        }
    }
    push_trimmed(paragraph, start..paragraph.len(), &mut found);
    found
}

/// Returns the normalised form of a sentence, by which sentences are compared; `None` if it is blank.
///
/// It ignores case, width, whitespace and final punctuation, except that case in code matters and a question mark remains.
pub(crate) fn key(sentence: &str) -> Option<String> {
    let mut key = String::with_capacity(sentence.len());
    let (mut blank, mut is_code) = (false, false);
    for character in sentence.trim().chars().map(to_narrow) {
        if character.is_whitespace() {
            blank = true;
            continue;
        }
        let parts_words = |near: char| !is_unspaced(near);
        if std::mem::take(&mut blank)
            && parts_words(character)
            && key.chars().next_back().is_some_and(parts_words)
        {
            key.push(' ');
        }
        is_code ^= character == '`';
        if is_code {
            key.push(character);
        } else {
            key.extend(character.to_lowercase());
        }
    }
    let ending = ['.', ',', ';', ':', '!', '。', '、', '…', '｡'];
    let trimmed = key
        .trim_end_matches(|character: char| ending.contains(&character))
        .trim_end();
    if !trimmed.is_empty() {
        key.truncate(trimmed.len());
    }
    (!key.is_empty()).then_some(key)
}

/// Returns whether `text` ends with a colon, which announces the next passage.
pub(crate) fn announces(text: &str) -> bool {
    text.trim_end()
        .trim_end_matches(['*', '_'])
        .ends_with([':', '：'])
}

/// Returns the narrow form of a full-width character.
fn to_narrow(character: char) -> char {
    match character {
        '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
        }
        _ => character,
    }
}

/// Returns whether whitespace next to `character` is insignificant, as in Chinese.
fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{312f}' | '\u{31a0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3fffd}')
}

/// Returns the end of the closing marks after `from`: further stops, quotes and brackets.
fn closing_end(text: &str, from: usize) -> usize {
    let closing = |character: char| ".!?…。！？；｡\"'”’)]）】」』》*_~".contains(character);
    text.len() - text[from..].trim_start_matches(closing).len()
}

/// Returns whether a sentence continues after a full stop that follows `before`.
fn continues_sentence(before: &str) -> bool {
    let before = before.trim_start();
    let last = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default()
        .trim_start_matches(['(', '"', '[']);
    let is_number_of_item = before.len() == last.len()
        && !last.is_empty()
        && last.bytes().all(|byte| byte.is_ascii_digit());
    let is_initial = last.len() == 1 && last.bytes().all(|byte| byte.is_ascii_uppercase());
    is_number_of_item
        || is_initial
        || WORDS
            .abbreviations
            .iter()
            .any(|own| own.eq_ignore_ascii_case(last))
}

/// Returns whether a line break between `before` and `after` ends a sentence.
fn line_ends_sentence(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    if line.ends_with("  ") || line.ends_with('\\') {
        return true;
    }
    let goes_on = after
        .trim_start()
        .chars()
        .next()
        .is_none_or(char::is_lowercase)
        || announces(line);
    let width: usize = line
        .trim()
        .chars()
        .map(|character| 1 + usize::from(is_unspaced(character)))
        .sum();
    !goes_on && width < FULL_LINE
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let piece = &text[range.clone()];
    let start = range.start + piece.len() - piece.trim_start().len();
    let end = start + piece.trim().len();
    if start < end {
        found.push(start..end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{key, sentence_ranges};

    fn split_sentences(text: &str) -> Vec<&str> {
        sentence_ranges(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn sentences_end_at_stops_in_both_languages() {
        assert_eq!(
            split_sentences("Use tabs. Never spaces! Why? So."),
            ["Use tabs.", "Never spaces!", "Why?", "So."]
        );
        assert_eq!(
            split_sentences("用制表符。不用空格！为什么？；好"),
            ["用制表符。", "不用空格！", "为什么？；", "好"]
        );
        assert_eq!(
            split_sentences("He said “no.” Then he left."),
            ["He said “no.”", "Then he left."]
        );
    }

    #[test]
    fn numbers_abbreviations_initials_and_code_cut_nothing() {
        for whole in [
            "Version 1.5 is out.",
            "Use e.g. Rust",
            "1. Mix it",
            "Ask J. Smith",
            "Run `a. b` now",
            "Dr. Chen",
        ] {
            assert_eq!(split_sentences(whole), [whole]);
        }
    }

    #[test]
    fn short_lines_end_sentences_and_full_ones_do_not() {
        assert_eq!(
            split_sentences("Anna: tea\nBen: coffee"),
            ["Anna: tea", "Ben: coffee"]
        );
        assert_eq!(split_sentences("the port\nis 8080"), ["the port\nis 8080"]);
        let full = "The name of the server in the basement of the office is\nAda.";
        assert_eq!(split_sentences(full), [full]);
    }

    #[test]
    fn keys_tell_apart_what_says_different_things_only() {
        assert_eq!(key("Use  Tabs."), key("use\ntabs"));
        assert_eq!(key("ＡＢＣ１"), key("abc1。"));
        assert_eq!(key("用 Rust 写"), key("用Rust写！"));
        assert_ne!(key("port 80?"), key("port 80."));
        assert_ne!(key("papá"), key("papa"));
        assert_eq!(key(" \n"), None);
    }

    proptest! {
        #[test]
        fn only_blanks_stand_between_sentences(text in memory_core::testing::any_text()) {
            let mut at = 0;
            for range in sentence_ranges(&text) {
                prop_assert!(text[at..range.start].trim().is_empty() && range.start < range.end);
                at = range.end;
            }
            prop_assert!(text[at..].trim().is_empty());
        }
    }
}
