//! Computes the share of words that texts have in common.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::tokenize;

/// The word sets of several texts, for fast comparison of any two of them.
///
/// Only words that occur in several of the texts have a bit in the sets: a word of a single text is never common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordOverlaps {
    /// For each text, the bit set of its shared words, and the total number of its distinct words.
    texts: Vec<(Vec<u64>, usize)>,
}

/// The texts in which a word occurs.
#[derive(Debug, Clone, Copy)]
enum WordOccurrence {
    /// Only in the text with this number.
    Once(usize),
    /// In several texts; the word has this bit.
    Several(usize),
}

impl WordOverlaps {
    /// Builds the word sets of `texts`.
    pub fn of(texts: &[&str]) -> Self {
        let mut words = HashMap::<String, WordOccurrence>::new();
        let mut sets = vec![(Vec::new(), 0); texts.len()];
        let mut bits = 0;
        for (number, text) in texts.iter().enumerate() {
            tokenize(
                text,
                &mut |token| match words.entry(token.text.to_owned()) {
                    Entry::Vacant(entry) => {
                        entry.insert(WordOccurrence::Once(number));
                        sets[number].1 += 1;
                    }
                    Entry::Occupied(mut entry) => match *entry.get() {
                        WordOccurrence::Once(first) if first == number => {}
                        WordOccurrence::Once(first) => {
                            entry.insert(WordOccurrence::Several(bits));
                            insert_bit(&mut sets[first].0, bits);
                            sets[number].1 += usize::from(insert_bit(&mut sets[number].0, bits));
                            bits += 1;
                        }
                        WordOccurrence::Several(bit) => {
                            sets[number].1 += usize::from(insert_bit(&mut sets[number].0, bit));
                        }
                    },
                },
            );
        }
        Self { texts: sets }
    }

    /// Returns the Jaccard similarity of the word sets of two texts, from 0 to 1.
    ///
    /// The texts are given by their index; two empty texts have the similarity 0.
    #[expect(
        clippy::cast_precision_loss,
        reason = "no text has so many words that it matters"
    )]
    pub fn similarity(&self, one: usize, other: usize) -> f32 {
        let ((own, count), (others, other_count)) = (&self.texts[one], &self.texts[other]);
        let common: u32 = own
            .iter()
            .zip(others)
            .map(|(left, right)| (left & right).count_ones())
            .sum();
        let common = common as usize;
        common as f32 / (count + other_count - common).max(1) as f32
    }
}

/// Sets a bit, and returns whether it was unset.
fn insert_bit(set: &mut Vec<u64>, bit: usize) -> bool {
    if set.len() <= bit / 64 {
        set.resize(bit / 64 + 1, 0);
    }
    let before = set[bit / 64];
    set[bit / 64] |= 1 << (bit % 64);
    before != set[bit / 64]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::WordOverlaps;

    #[test]
    fn texts_of_the_same_words_overlap_wholly_and_others_not_at_all() {
        let share = |one: &str, other: &str| WordOverlaps::of(&[one, other]).similarity(0, 1);
        assert_eq!(
            share("Green tea, green tea", "tea: GREEN").to_bits(),
            1.0_f32.to_bits()
        );
        assert_eq!(
            [share("green tea", "coffee"), share("", "")].map(f32::to_bits),
            [0.0_f32; 2].map(f32::to_bits)
        );
        assert_eq!(
            share("green tea", "black tea").to_bits(),
            (1.0_f32 / 3.0).to_bits()
        );
    }

    proptest! {
        #[test]
        fn it_is_the_share_that_counting_gives(texts in proptest::collection::vec("([a-d]{1,3} ){0,30}", 2..6)) {
            let words = |text: &String| {
                let mut words = HashSet::new();
                crate::text::tokenize(text, &mut |token| { words.insert(token.text.to_owned()); });
                words
            };
            let overlaps = WordOverlaps::of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            for (one, left) in texts.iter().map(words).enumerate() {
                for (other, right) in texts.iter().map(words).enumerate().filter(|(other, _)| *other != one) {
                    #[expect(clippy::cast_precision_loss, reason = "there are few")]
                    let share = left.intersection(&right).count() as f32 / left.union(&right).count().max(1) as f32;
                    prop_assert_eq!(overlaps.similarity(one, other).to_bits(), share.to_bits());
                }
            }
        }
    }
}
