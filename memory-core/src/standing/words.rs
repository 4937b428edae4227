//! The words of a sentence, word classes that all languages share, and the names of languages.

use std::sync::LazyLock;

use crate::language::{self, WORDS};
use crate::text::fold;

/// A word of a sentence.
#[derive(Debug)]
pub(super) struct SentenceWord {
    /// The word folded by [`fold()`], without the punctuation around it.
    pub(super) folded: String,
    /// The byte offset in the sentence.
    pub(super) at: usize,
    /// Whether the first letter is a capital.
    pub(super) is_capitalised: bool,
    /// Whether punctuation separates it from the word before it.
    pub(super) begins_clause: bool,
}

/// The words of a sentence.
#[derive(Debug)]
pub(super) struct SentenceWords {
    words: Vec<SentenceWord>,
    /// Whether the sentence ends with a question mark.
    pub(super) is_question: bool,
}

impl SentenceWords {
    /// Splits a sentence at blanks.
    pub(super) fn new(sentence: &str) -> Self {
        let mut words = Vec::new();
        let mut begins_clause = false;
        for raw in sentence.split_whitespace() {
            let is_inner = |letter: char| letter.is_alphanumeric();
            let (Some(start), Some(last)) = (raw.find(is_inner), raw.rfind(is_inner)) else {
                begins_clause = true;
                continue;
            };
            let end = last + raw[last..].chars().next().map_or(0, char::len_utf8);
            let word = &raw[start..end];
            words.push(SentenceWord {
                folded: fold(word),
                at: raw.as_ptr() as usize - sentence.as_ptr() as usize,
                is_capitalised: word.starts_with(char::is_uppercase),
                begins_clause: begins_clause || raw[..start].contains(['(', '（']),
            });
            begins_clause = raw[end..].contains([
                ',', ':', ';', '.', '!', '?', ')', '—', '–', '"', '“', '”', '，', '：',
            ]);
        }
        let is_question = sentence
            .trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != '?')
            .ends_with('?');
        Self { words, is_question }
    }

    /// Splits the French elisions, so that `n'utilise` becomes `n'` and `utilise`, and `appelle-moi` becomes `appelle` and `moi`.
    pub(super) fn split_elisions(&self) -> Self {
        let mut words = Vec::new();
        let mut push = |word: &SentenceWord, folded: &str, is_first: bool| {
            words.push(SentenceWord {
                folded: folded.to_owned(),
                at: word.at,
                is_capitalised: word.is_capitalised && is_first,
                begins_clause: word.begins_clause && is_first,
            });
        };
        for word in &self.words {
            let mut rest = word.folded.as_str();
            let mut is_first = true;
            if let Some((elided, after)) = rest
                .split_once('\'')
                .filter(|(elided, _)| WORDS.elided.contains(elided))
            {
                push(word, &rest[..=elided.len()], true);
                (rest, is_first) = (after, false);
            }
            match rest
                .split_once('-')
                .filter(|(_, pronoun)| ["moi", "toi", "nous", "vous"].contains(pronoun))
            {
                Some((verb, pronoun)) => {
                    push(word, verb, is_first);
                    push(word, pronoun, false);
                }
                None => push(word, rest, is_first),
            }
        }
        Self {
            words,
            is_question: self.is_question,
        }
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns a word, or an empty string after the last one.
    pub(super) fn word(&self, number: usize) -> &str {
        self.words.get(number).map_or("", |word| &word.folded)
    }

    /// Returns the byte offset of a word in the sentence.
    pub(super) fn at(&self, number: usize) -> usize {
        self.words.get(number).map_or(0, |word| word.at)
    }

    /// Returns whether the first letter of a word is a capital.
    pub(super) fn is_capitalised(&self, number: usize) -> bool {
        self.words
            .get(number)
            .is_some_and(|word| word.is_capitalised)
    }

    /// Returns whether a word is the first of a clause. The end of the sentence is one, too.
    pub(super) fn begins_clause(&self, number: usize) -> bool {
        number == 0 || self.words.get(number).is_none_or(|word| word.begins_clause)
    }

    /// Returns the number of the first word at `start` or later that begins a clause.
    pub(super) fn next_clause(&self, start: usize) -> usize {
        (start..self.len())
            .find(|number| self.begins_clause(*number))
            .unwrap_or(self.len())
    }

    /// Returns whether a word is in `class`.
    pub(super) fn is(&self, number: usize, class: &[&str]) -> bool {
        class.contains(&self.word(number))
    }

    /// Returns the number of the first word of `range` that is in `class`.
    pub(super) fn find(&self, range: std::ops::Range<usize>, class: &[&str]) -> Option<usize> {
        range
            .into_iter()
            .find(|number| *number < self.len() && self.is(*number, class))
    }

    /// Returns the number of the first word at `start` or later that is not in `class`.
    pub(super) fn skip(&self, start: usize, class: &[&str]) -> usize {
        (start..self.len())
            .find(|number| !self.is(*number, class))
            .unwrap_or(self.len())
    }

    /// Returns the number of words of the longest of the phrases that is at `start`.
    pub(super) fn phrase_at(&self, start: usize, phrases: &[&str]) -> Option<usize> {
        let length_at = |phrase: &&str| {
            let mut length = 0;
            phrase
                .split(' ')
                .all(|word| {
                    length += 1;
                    self.word(start + length - 1) == word
                })
                .then_some(length)
        };
        phrases.iter().filter_map(length_at).max()
    }

    /// Returns the first occurrence of one of the phrases, as the number of its first word and its length in words.
    pub(super) fn find_phrase(&self, phrases: &[&str]) -> Option<(usize, usize)> {
        (0..self.len()).find_map(|start| Some((start, self.phrase_at(start, phrases)?)))
    }
}

/// The names of each language in several languages, folded; the first one identifies the language.
static LANGUAGES: LazyLock<Vec<Vec<&str>>> =
    LazyLock::new(|| language::parse(include_str!("../language/names.json")));

/// Returns the language that a folded word names.
pub(super) fn language(word: &str) -> Option<&'static str> {
    LANGUAGES
        .iter()
        .find(|names| names.contains(&word))
        .map(|names| names[0])
}

/// Returns the language whose name in Chinese characters is at the start of the folded text, and the length of the name in bytes.
pub(super) fn language_at(text: &str) -> Option<(&'static str, usize)> {
    LANGUAGES.iter().find_map(|names| {
        let name = names
            .iter()
            .find(|name| !name.is_ascii() && text.starts_with(**name))?;
        Some((names[0], name.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_file() {
        for name in ["french", "franzosisch", "francais", "frances", "法语"] {
            assert_eq!(language(name), Some("french"), "{name}");
        }
    }
}
