//! The word order of a claim, as far as it affects the meaning.

use std::collections::BTreeSet;

use super::pronoun_person;
use super::words::ENGLISH;

/// The words of a text in order, by clause and by side of `is` within each clause.
///
/// `Rex is my dog` has the same meaning as `My dog is Rex`, but `Anna is the boss of Tom` differs from `Tom is the boss of Anna`.
#[derive(Debug, Default)]
pub(super) struct WordOrder {
    clauses: Vec<Vec<Vec<String>>>,
    sides: Vec<Vec<String>>,
    side: Vec<String>,
}

impl WordOrder {
    /// Processes the text between two words; punctuation ends the clause.
    pub(super) fn add_gap(&mut self, gap: &str) {
        if gap.contains(['.', '!', '?', ';', ':', ',', '\n']) {
            self.end_clause();
        }
    }

    /// Processes a word; `is_content` is false for stop words.
    pub(super) fn add_word(&mut self, lower: &str, stem: &str, is_content: bool) {
        if ENGLISH.copulas.contains(&lower) {
            self.end_side();
        } else if matches!(lower, "and" | "or") {
            self.end_clause();
        } else if ENGLISH.prepositions.contains(&lower) {
            if !self.side.is_empty() || ENGLISH.leading_prepositions.contains(&lower) {
                self.side.push(format!("{lower}~"));
            }
        } else if is_content {
            self.push(stem);
        } else if let Some(person) = pronoun_person(lower) {
            self.push(person);
        }
    }

    /// Adds a content word.
    pub(super) fn push(&mut self, word: &str) {
        self.side.push(word.to_owned());
    }

    /// Starts the other side of a clause.
    pub(super) fn end_side(&mut self) {
        self.sides.push(std::mem::take(&mut self.side));
    }

    /// Starts a new clause.
    pub(super) fn end_clause(&mut self) {
        self.end_side();
        self.clauses.push(std::mem::take(&mut self.sides));
    }

    /// Returns the canonical order of the words that are in `words`.
    ///
    /// Orders with the same meaning have the same form.
    pub(super) fn into_canonical(mut self, words: &BTreeSet<String>) -> String {
        self.end_clause();
        let side = |side: Vec<String>| -> String {
            let mut kept: Vec<String> = side
                .into_iter()
                .filter(|word| word.ends_with('~') || words.contains(word))
                .collect();
            // A trailing preposition has no meaning.
            while kept.last().is_some_and(|word| word.ends_with('~')) {
                kept.pop();
            }
            kept.dedup();
            kept.join(" ")
        };
        let clause = |sides: Vec<Vec<String>>| -> String {
            let mut sides: Vec<String> = sides
                .into_iter()
                .map(side)
                .filter(|side| !side.is_empty())
                .collect();
            sides.sort();
            sides.join("|")
        };
        let mut clauses: Vec<String> = self
            .clauses
            .into_iter()
            .map(clause)
            .filter(|clause| !clause.is_empty())
            .collect();
        clauses.sort();
        clauses.dedup();
        clauses.join(";")
    }
}
