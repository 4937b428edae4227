//! The capitalisation of the words of a text.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The capitalisation of the words of a text, ignoring first letters because of starts of sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordCasing {
    /// The hashes of each word in lower case and as written, sorted and without duplicates.
    forms: Vec<(u64, u64)>,
}

impl WordCasing {
    /// Analyses a text.
    pub fn of(text: &str) -> Self {
        let word = |word: &str| {
            let word = word
                .trim_matches(|letter: char| ".,;:!?\"'()[]{}“”‘’。，；：！？".contains(letter));
            let mut letters = word.chars();
            let first = letters.next()?;
            let form: String = first.to_lowercase().chain(letters).collect();
            Some((hash_word(&form.to_lowercase()), hash_word(&form)))
        };
        let mut forms: Vec<_> = text.split_whitespace().filter_map(word).collect();
        forms.sort_unstable();
        forms.dedup();
        Self { forms }
    }

    /// Returns whether every word in both texts has the same capitalisation in both.
    ///
    /// Keys, units, flags and file names that differ in case are different things.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.forms.chunk_by(|one, next| one.0 == next.0).all(|own| {
            let start = other.forms.partition_point(|form| form.0 < own[0].0);
            let length = other.forms[start..]
                .iter()
                .take_while(|form| form.0 == own[0].0)
                .count();
            length == 0 || other.forms[start..start + length] == *own
        })
    }
}

fn hash_word(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::WordCasing;

    #[test]
    fn what_differs_in_a_capital_inside_is_another_thing() {
        let agree = |one: &str, other: &str| {
            let (one, other) = (WordCasing::of(one), WordCasing::of(other));
            assert_eq!(one.agrees_with(&other), other.agrees_with(&one));
            one.agrees_with(&other)
        };
        for (one, other) in [
            (
                "the password is Sunshine-Apple",
                "the password is sunshine-apple",
            ),
            ("tar -C there -v", "tar -C there -V"),
            ("the key is AbCdEf.", "the key is aBcDeF."),
            ("a limit of 5 GB", "a limit of 5 Gb"),
            ("NO dogs", "No dogs"),
        ] {
            assert!(!agree(one, other), "{one} | {other}");
        }
        for (one, other) in [
            ("Tea is good.", "I say: tea is good"),
            ("用户喜欢 Rust。", "用户喜欢 Rust"),
            ("one thing", "Another THING entirely, one could say"),
        ] {
            assert_eq!(
                agree(one, other),
                !other.contains("THING"),
                "{one} | {other}"
            );
        }
    }
}
