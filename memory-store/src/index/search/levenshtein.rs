//! A Damerau-Levenshtein automaton for typo correction.

use tantivy_fst::Automaton;

/// Maximum length of a word, in bytes.
const MAX_WORD_BYTES: usize = 62;

/// An automaton that accepts words within edit distance 1 of a word.
///
/// An edit is an insertion, a deletion, a substitution or a transposition of adjacent letters. The first letter is only ever transposed:
/// typos are rare there, and unrelated words often differ in it alone.
#[derive(Debug, Clone)]
pub(super) struct LevenshteinAutomaton {
    /// For each byte, a bit mask of its positions in the word.
    places: Box<[u64; 256]>,
    length: usize,
}

/// The automaton's state: bit masks of the positions reached in the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EditState {
    /// Positions reached without an edit.
    right: u64,
    /// Positions reached with one edit.
    slipped: u64,
    /// Positions in the middle of a transposition.
    swapping: u64,
}

impl LevenshteinAutomaton {
    /// Creates the automaton for `word`, or returns `None` if it is longer than `MAX_WORD_BYTES`.
    pub(super) fn of(word: &str) -> Option<Self> {
        if MAX_WORD_BYTES < word.len() {
            return None;
        }
        let mut places = Box::new([0; 256]);
        for (place, byte) in word.bytes().enumerate() {
            places[usize::from(byte)] |= 1 << place;
        }
        Some(Self {
            places,
            length: word.len(),
        })
    }

    /// Returns whether `word` is within edit distance 1.
    pub(super) fn matches(&self, word: &str) -> bool {
        if 1 < word.len().abs_diff(self.length) {
            return false;
        }
        let read = word.bytes().try_fold(self.start(), |read, byte| {
            Some(self.accept(&read, byte)).filter(|read| self.can_match(read))
        });
        read.is_some_and(|read| self.is_match(&read))
    }
}

impl Automaton for LevenshteinAutomaton {
    type State = EditState;

    fn start(&self) -> EditState {
        EditState {
            right: 1,
            slipped: 0,
            swapping: 0,
        }
    }

    fn is_match(&self, read: &EditState) -> bool {
        let end = 1 << self.length;
        // The last letter may be deleted.
        (read.right | read.slipped) & end != 0 || (read.right & !1) & (end >> 1) != 0
    }

    fn can_match(&self, read: &EditState) -> bool {
        (read.right | read.slipped | read.swapping) & ((2 << self.length) - 1) != 0
    }

    fn accept(&self, read: &EditState, byte: u8) -> EditState {
        let here = self.places[usize::from(byte)];
        let may_slip = read.right & !1;
        let too_many = may_slip;
        let wrong = may_slip << 1;
        let missing = ((may_slip << 1) & here) << 1;
        let goes_on = (read.slipped & here) << 1;
        let swapped = (read.swapping & here) << 2;
        EditState {
            right: (read.right & here) << 1,
            slipped: too_many | wrong | missing | goes_on | swapped,
            swapping: read.right & (here >> 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LevenshteinAutomaton;

    /// The restricted Damerau-Levenshtein distance, which edits no substring twice.
    fn distance(one: &[u8], other: &[u8]) -> usize {
        let mut table = vec![vec![0; other.len() + 1]; one.len() + 1];
        for left in 0..=one.len() {
            for right in 0..=other.len() {
                table[left][right] = if left == 0 || right == 0 {
                    left + right
                } else {
                    let wrong =
                        table[left - 1][right - 1] + usize::from(one[left - 1] != other[right - 1]);
                    let mut least = wrong
                        .min(table[left - 1][right] + 1)
                        .min(table[left][right - 1] + 1);
                    if 1 < left
                        && 1 < right
                        && one[left - 1] == other[right - 2]
                        && one[left - 2] == other[right - 1]
                    {
                        least = least.min(table[left - 2][right - 2] + 1);
                    }
                    least
                };
            }
        }
        table[one.len()][other.len()]
    }

    #[test]
    fn one_slip_is_known_and_two_are_not() {
        let slip = LevenshteinAutomaton::of("postgr").unwrap();
        for word in [
            "postgr", "psotgr", "opstgr", "postgre", "postg", "potgr", "posstgr", "pastgr",
            "postrg",
        ] {
            assert!(slip.matches(word), "{word}");
        }
        for word in [
            "ostgr", "xostgr", "xpostgr", "psotrg", "post", "postgres", "", "p",
        ] {
            assert!(!slip.matches(word), "{word}");
        }
        assert!(LevenshteinAutomaton::of(&"x".repeat(63)).is_none());
    }

    proptest! {
        #[test]
        fn it_is_a_distance_of_one_behind_the_first_letter(word in "[a-c]{1,7}", other in "[a-c]{0,8}") {
            let (one, two) = (word.as_bytes(), other.as_bytes());
            let is_swapped = 2 <= one.len() && 2 <= two.len() && (one[0], one[1]) == (two[1], two[0]) && one[2..] == two[2..];
            let is_behind = one.first() == two.first() && distance(&one[1..], &two[1..]) <= 1;
            prop_assert_eq!(LevenshteinAutomaton::of(&word).unwrap().matches(&other), is_behind || is_swapped, "{} {}", word, other);
        }
    }
}
