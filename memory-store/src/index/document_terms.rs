//! The search terms of a memory, as text for tantivy and for the pending rows.

use std::collections::HashMap;
use std::fmt::Write;

use memory_core::Memory;
use memory_core::text::{
    Token, TokenKind, compound_names, exact_form, for_each_alef_token, for_each_compound_token,
    for_each_styled_token, for_each_symbol, hyphenated_form, identifier_parts, is_other_form,
    tokenize,
};

/// Weight of a word of the title, relative to the content.
const TITLE_WEIGHT: u32 = 3;

/// Weight of a word of a tag or an alias, relative to the content.
const TAG_WEIGHT: u32 = 2;

/// The search terms of a memory with their weighted frequencies.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct DocumentTerms {
    /// Words and pairs of characters.
    pub(super) text: EncodedTerms,
    /// Single characters of scripts without spaces.
    pub(super) characters: EncodedTerms,
    /// Words in their original spelling and symbols, each once, for the search of parts of words.
    pub(super) spelled: EncodedTerms,
}

impl DocumentTerms {
    /// Extracts the search terms of `memory`.
    pub(super) fn of(memory: &Memory) -> Self {
        let mut text = HashMap::<String, u32>::new();
        let mut characters = HashMap::<String, u32>::new();
        let mut spelled = HashMap::<String, u32>::new();
        let mut add = |part: &str, weight: u32| {
            let mut add_token = |token: Token<'_>| {
                if token.kind == TokenKind::Word && !spelled.contains_key(token.spelled) {
                    spelled.insert(token.spelled.to_owned(), 1);
                }
                let terms = if token.kind == TokenKind::Character {
                    &mut characters
                } else {
                    &mut text
                };
                add_term(token.text, weight, terms);
                if token.kind == TokenKind::Word {
                    if let Some(exact) = exact_form(token.spelled) {
                        add_term(&exact, weight, &mut text);
                    }
                    for word in identifier_parts(&part[token.span]) {
                        tokenize(word, &mut |token| add_term(token.text, weight, &mut text));
                    }
                }
            };
            tokenize(part, &mut add_token);
            for_each_styled_token(part, &mut add_token);
            for_each_alef_token(part, &mut add_token);
            for_each_compound_token(part, &mut |token| {
                add_term(&hyphenated_form(token.text), weight, &mut text);
            });
            for name in compound_names(part) {
                add_term(&name, weight, &mut text);
            }
            for_each_symbol(part, &mut |token| {
                if !spelled.contains_key(token.text) {
                    spelled.insert(token.text.to_owned(), 1);
                }
            });
        };
        add(&memory.content, 1);
        memory
            .title
            .iter()
            .for_each(|title| add(title, TITLE_WEIGHT));
        memory
            .tags
            .iter()
            .chain(&memory.aliases)
            .for_each(|tag| add(tag, TAG_WEIGHT));
        Self {
            text: EncodedTerms::of(text),
            characters: EncodedTerms::of(characters),
            spelled: EncodedTerms::of(spelled),
        }
    }
}

fn add_term(term: &str, weight: u32, terms: &mut HashMap<String, u32>) {
    match terms.get_mut(term) {
        Some(frequency) => *frequency += weight,
        None => drop(terms.insert(term.to_owned(), weight)),
    }
}

/// Terms with their frequencies as one text.
///
/// Each entry consists of the frequency, the length of the term in bytes, and the term.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct EncodedTerms(pub(super) String);

impl EncodedTerms {
    fn of(terms: HashMap<String, u32>) -> Self {
        let mut terms: Vec<_> = terms.into_iter().collect();
        terms.sort_unstable();
        let mut encoded = String::with_capacity(terms.iter().map(|(term, _)| term.len() + 6).sum());
        for (term, frequency) in terms {
            write!(encoded, "{frequency} {} {term}", term.len())
                .expect("a String takes everything");
        }
        Self(encoded)
    }

    /// Iterates over the terms and their frequencies.
    pub(super) fn terms(&self) -> TermIter<'_> {
        TermIter(&self.0)
    }

    /// Returns the sum of the frequencies.
    pub(super) fn length(&self) -> u32 {
        self.terms()
            .filter(|(term, _)| !is_other_form(term))
            .map(|(_, frequency)| frequency)
            .sum()
    }

    /// Returns the frequency of `term`, or 0.
    pub(super) fn frequency(&self, term: &str) -> u32 {
        self.terms()
            .find(|(own, _)| *own == term)
            .map_or(0, |(_, frequency)| frequency)
    }
}

/// An iterator over the terms of an [`EncodedTerms`]; it ends at the first invalid entry.
#[derive(Debug, Clone)]
pub(super) struct TermIter<'a>(pub(super) &'a str);

impl<'a> Iterator for TermIter<'a> {
    type Item = (&'a str, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let (frequency, rest) = self.0.split_once(' ')?;
        let (length, rest) = rest.split_once(' ')?;
        let (term, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.0 = rest;
        Some((term, frequency.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Draft, MemoryId};

    use super::*;
    use crate::memory_file::time_from_nanos;

    #[test]
    fn what_is_encoded_is_read_again() {
        let terms = HashMap::from([
            ("dark".to_owned(), 3),
            ("1 2 3".to_owned(), 12),
            ("深色".to_owned(), 1),
        ]);
        let encoded = EncodedTerms::of(terms.clone());
        assert_eq!(
            encoded
                .terms()
                .map(|(term, frequency)| (term.to_owned(), frequency))
                .collect::<HashMap<_, _>>(),
            terms
        );
        assert_eq!(
            (
                encoded.length(),
                encoded.frequency("1 2 3"),
                encoded.frequency("2")
            ),
            (16, 12, 0)
        );
    }

    #[test]
    fn a_word_of_the_title_counts_three_times_and_one_of_a_tag_twice() {
        let mut draft = Draft::new("dark");
        draft.title = Some("Dark mode".into());
        draft.tags = ["dark"].into_iter().collect();
        let words =
            DocumentTerms::of(&draft.into_memory(MemoryId::for_path("a"), time_from_nanos(0)));
        assert_eq!(
            (words.text.frequency("dark"), words.text.frequency("mode")),
            (6, 3)
        );
    }
}
