//! The order of the words of a claim, as far as it matters to the meaning.

use std::collections::BTreeSet;

use super::person;

/// The words of a text in their order: its clauses, the sides of `is` in each, and the words of each side.
///
/// `Rex is my dog` means what `My dog is Rex` means, but `Anna is the boss of Tom` is not `Tom is the boss of Anna`.
#[derive(Debug, Default)]
pub(super) struct WordOrder {
    clauses: Vec<Vec<Vec<String>>>,
    sides: Vec<Vec<String>>,
    side: Vec<String>,
}

/// Words that part a clause into two sides, which may be exchanged.
const COPULAS: [&str; 14] =
    ["is", "are", "am", "was", "were", "be", "i'm", "it's", "called", "named", "isn't", "aren't", "wasn't", "weren't"];

/// Prepositions that tell apart what the same words mean.
const PREPOSITIONS: [&str; 21] = [
    "from", "to", "into", "before", "after", "with", "without", "by", "for", "against", "over", "under", "above", "below",
    "until", "since", "than", "between", "through", "near", "behind",
];

/// Those of them that tell something at the beginning of a side as well; others there follow a verb that is left out.
const LEADING: [&str; 6] = ["before", "after", "without", "until", "since", "from"];

impl WordOrder {
    /// Takes the text between two words: marks begin another clause.
    pub(super) fn take_gap(&mut self, gap: &str) {
        if gap.contains(['.', '!', '?', ';', ':', ',', '\n']) {
            self.end_clause();
        }
    }

    /// Takes a word, which `is_content` or only holds the sentence together.
    pub(super) fn take(&mut self, lower: &str, stem: &str, is_content: bool) {
        if COPULAS.contains(&lower) {
            self.end_side();
        } else if matches!(lower, "and" | "or") {
            self.end_clause();
        } else if PREPOSITIONS.contains(&lower) {
            if !self.side.is_empty() || LEADING.contains(&lower) {
                self.side.push(format!("{lower}~"));
            }
        } else if is_content {
            self.push(stem);
        } else if let Some(person) = person(lower) {
            self.push(person);
        }
    }

    /// Takes a word that says something.
    pub(super) fn push(&mut self, word: &str) {
        self.side.push(word.to_owned());
    }

    /// Begins the other side of a clause.
    pub(super) fn end_side(&mut self) {
        self.sides.push(std::mem::take(&mut self.side));
    }

    /// Begins another clause.
    pub(super) fn end_clause(&mut self) {
        self.end_side();
        self.clauses.push(std::mem::take(&mut self.sides));
    }

    /// Returns the order of those words that are among `words`, in one form for all orders that mean the same.
    pub(super) fn canonical(mut self, words: &BTreeSet<String>) -> String {
        self.end_clause();
        let side = |side: Vec<String>| -> String {
            let mut kept: Vec<String> = side.into_iter().filter(|word| word.ends_with('~') || words.contains(word)).collect();
            // A preposition in front of nothing says nothing.
            while kept.last().is_some_and(|word| word.ends_with('~')) {
                kept.pop();
            }
            kept.dedup();
            kept.join(" ")
        };
        let clause = |sides: Vec<Vec<String>>| -> String {
            let mut sides: Vec<String> = sides.into_iter().map(side).filter(|side| !side.is_empty()).collect();
            sides.sort();
            sides.join("|")
        };
        let mut clauses: Vec<String> = self.clauses.into_iter().map(clause).filter(|clause| !clause.is_empty()).collect();
        clauses.sort();
        clauses.dedup();
        clauses.join(";")
    }
}
