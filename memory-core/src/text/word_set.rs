//! Which words a text has.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::tokens;

/// Which words a text has, to be compared with those of many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordSet {
    /// The hash of each word, in order and each once: two words of one hash are rarer than any error that it could make.
    hashes: Vec<u64>,
}

impl WordSet {
    /// Returns the words of `text`.
    pub fn of(text: &str) -> Self {
        let mut words = Vec::new();
        tokens(text, &mut |token| {
            let mut hasher = DefaultHasher::new();
            token.text.hash(&mut hasher);
            words.push(hasher.finish());
        });
        words.sort_unstable();
        words.dedup();
        Self { hashes: words }
    }

    /// Returns which share of the words that either text has both have, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "no text has so many words that it matters")]
    pub fn overlap(&self, other: &Self) -> f32 {
        let (mut own, mut others) = (self.hashes.iter().peekable(), other.hashes.iter().peekable());
        let mut common = 0;
        while let (Some(left), Some(right)) = (own.peek(), others.peek()) {
            let order = left.cmp(right);
            common += usize::from(order == Ordering::Equal);
            if order != Ordering::Greater {
                own.next();
            }
            if order != Ordering::Less {
                others.next();
            }
        }
        common as f32 / (self.hashes.len() + other.hashes.len() - common).max(1) as f32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::WordSet;

    #[test]
    fn texts_of_the_same_words_overlap_wholly_and_others_not_at_all() {
        let share = |one: &str, other: &str| WordSet::of(one).overlap(&WordSet::of(other));
        assert_eq!(share("Green tea, green tea", "tea: GREEN").to_bits(), 1.0_f32.to_bits());
        assert_eq!([share("green tea", "coffee"), share("", "")].map(f32::to_bits), [0.0_f32; 2].map(f32::to_bits));
        assert_eq!(share("green tea", "black tea").to_bits(), (1.0_f32 / 3.0).to_bits());
    }

    proptest! {
        #[test]
        fn it_is_the_share_that_counting_gives(one in "([a-d]{1,2} ){0,12}", other in "([a-d]{1,2} ){0,12}") {
            let words = |text: &str| {
                let mut words = HashSet::new();
                crate::text::tokens(text, &mut |token| { words.insert(token.text.to_owned()); });
                words
            };
            let (left, right) = (words(&one), words(&other));
            #[expect(clippy::cast_precision_loss, reason = "there are few")]
            let share = left.intersection(&right).count() as f32 / left.union(&right).count().max(1) as f32;
            prop_assert_eq!(WordSet::of(&one).overlap(&WordSet::of(&other)).to_bits(), share.to_bits());
        }
    }
}
