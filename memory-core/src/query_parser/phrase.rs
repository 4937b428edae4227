//! Phrases: words that must be adjacent in a text.

use std::borrow::Cow;

use crate::text::{
    Term, TokenKind, for_each_symbol, query_terms, symbol_terms, tokenize, without_inner_styling,
};

/// A sequence of words that must, or must not, be adjacent in this order.
///
/// Blanks and signs between the words are ignored. In a script without blanks every character is a word: a phrase may start and end in the
/// middle of a run. A phrase of at most one word with symbols attached, or of emoji, consists of these symbols: `"C++"`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phrase {
    words: Vec<Term>,
    terms: Vec<Term>,
}

impl Phrase {
    /// Parses a phrase without its quotation marks; returns `None` if it has no letter, digit or symbol.
    pub fn of(text: &str) -> Option<Self> {
        let words = phrase_words(text);
        let symbols = symbol_terms(text);
        if words.is_empty() || words.len() == 1 && symbols.iter().any(|(_, is_bare)| !is_bare) {
            let terms: Vec<Term> = symbols.into_iter().map(|(term, _)| term).collect();
            return (!terms.is_empty()).then(|| Self {
                words: Vec::new(),
                terms,
            });
        }
        Some(Self {
            words,
            terms: query_terms(text),
        })
    }

    /// Returns the index terms that every text with the phrase contains.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the only term of the phrase, if every text with the term also contains the phrase.
    pub fn single_term(&self) -> Option<&Term> {
        let [only] = self.terms.as_slice() else {
            return None;
        };
        let characters = if only.kind == TokenKind::Bigram { 2 } else { 1 };
        (self.words.len() == characters || self.words.is_empty()).then_some(only)
    }

    /// Returns whether `text` contains the phrase.
    pub fn occurs_in(&self, text: &str) -> bool {
        if self.words.is_empty() {
            let mut left: Vec<&Term> = self.terms.iter().collect();
            for_each_symbol(text, &mut |token| {
                left.retain(|term| term.text != token.text);
            });
            return left.is_empty();
        }
        let occurs = |text: &str| {
            phrase_words(text)
                .windows(self.words.len())
                .any(|window| window == self.words)
        };
        occurs(text) || matches!(without_inner_styling(text), Cow::Owned(plain) if occurs(&plain))
    }
}

/// Returns the words of a text in order; each character of a run without blanks is a word.
fn phrase_words(text: &str) -> Vec<Term> {
    let mut words = Vec::new();
    tokenize(text, &mut |token| {
        if token.kind != TokenKind::Bigram {
            words.push(Term {
                text: token.text.to_owned(),
                kind: token.kind,
            });
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Phrase;

    fn stands(phrase: &str, text: &str) -> bool {
        Phrase::of(phrase).is_some_and(|phrase| phrase.occurs_in(text))
    }

    #[test]
    fn words_stand_side_by_side_in_their_order() {
        assert!(stands("dark mode", "the Dark, modes"));
        assert!(
            !stands("dark mode", "dark green mode")
                && !stands("dark mode", "mode dark")
                && !stands("…", "…")
        );
    }

    #[test]
    fn a_phrase_may_begin_and_end_within_a_run_of_characters() {
        for phrase in ["用Rust", "Rust写", "我用 Rust 写", "的CLI"] {
            assert!(stands(phrase, "我用Rust写的CLI"), "{phrase}");
        }
        for phrase in ["记忆", "忆力", "记忆力", "记"] {
            assert!(
                stands(phrase, "好的记忆力") && stands(phrase, "好的记\n忆力"),
                "{phrase}"
            );
        }
        assert!(
            !stands("用Rust", "用过Rust")
                && !stands("记力", "记忆力")
                && !stands("用Rust", "使用 TypeRust")
        );
    }

    #[test]
    fn styling_within_a_word_and_the_sign_of_an_acronym_do_not_divide_a_phrase() {
        assert!(stands("a kayak trip", "a **Kay**ak trip") && stands("kay", "**Kay**ak"));
        assert!(stands("רשי אומר", "רש\"י אומר"));
    }

    #[test]
    fn symbols_are_a_phrase() {
        assert!(
            stands("C++", "both (C++, Rust)") && !stands("C++", "C, i++") && !stands("C#", "C")
        );
        assert!(
            stands("🚀", "lift🚀off")
                && !stands("🚀", "lift off")
                && stands("🚀 🎉", "🎉, then 🚀")
        );
        assert!(
            stands("dark-mode", "dark mode"),
            "between words signs do not count"
        );
    }

    #[test]
    fn a_phrase_of_one_term_is_that_term() {
        let only = |phrase: &str| {
            Phrase::of(phrase).and_then(|phrase| Some(phrase.single_term()?.text.clone()))
        };
        assert_eq!(
            ["staging", "用户", "用"].map(only),
            ["stage", "用户", "用"].map(|term| Some(term.to_owned()))
        );
        assert_eq!(
            ["bye bye", "用户用户", "用 户", "old server"].map(only),
            [None, None, None, None]
        );
    }

    proptest! {
        #[test]
        fn every_part_of_a_text_that_ends_with_words_stands_in_it(text in "([a-c]{1,2}|[用户写]| |,){1,12}", from in 0..12_usize, length in 1..12_usize) {
            let characters: Vec<char> = text.chars().collect();
            let (from, to) = (from.min(characters.len()), (from + length).min(characters.len()));
            let is_border = |place: usize| {
                let is_letter = |place: usize| characters.get(place).is_some_and(char::is_ascii_alphabetic);
                !(0 < place && is_letter(place - 1) && is_letter(place))
            };
            let part: String = characters[from..to].iter().collect();
            prop_assume!(is_border(from) && is_border(to));
            if let Some(phrase) = Phrase::of(&part) {
                prop_assert!(phrase.occurs_in(&text), "{:?} in {:?}", part, text);
            }
        }
    }
}
