//! Deterministic generator of notes and queries.
//!
//! Each note has about 60 words, drawn from a vocabulary with the word frequencies of a natural language (Zipf's law).

#![forbid(unsafe_code)]

use std::fmt::Write;
use std::str::FromStr;

/// Number of distinct words.
const VOCABULARY_SIZE: u32 = 40_000;

/// A deterministic random number generator.
///
/// It is a linear congruential generator with Knuth's constants.
#[derive(Debug, Clone)]
pub struct CorpusRandom(u64);

impl CorpusRandom {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns the next number, at least 0 and below `limit`.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(limit)).expect("it is below a u32")
    }

    /// Returns the rank of a random word; rank 0 is the most frequent word.
    fn rank(&mut self) -> u32 {
        // The exponential of a uniform random number is distributed as 1/x, which is Zipf's law.
        let even = f64::from(self.below(1 << 20)) / f64::from(1 << 20);
        let rank = (f64::from(VOCABULARY_SIZE).ln() * even).exp() - 1.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it lies between 0 and the vocabulary's size"
        )]
        let rank = rank as u32;
        rank.min(VOCABULARY_SIZE - 1)
    }
}

/// Returns the word of a rank.
///
/// It consists of syllables that no English stemmer changes.
pub fn word(rank: u32) -> String {
    const SYLLABLES: [&str; 32] = [
        "ba", "co", "du", "fa", "go", "hu", "ja", "ko", "lu", "ma", "no", "pu", "ra", "so", "tu",
        "va", "wo", "zu", "bra", "clo", "dru", "fra", "gro", "klu", "pla", "sto", "tru", "sma",
        "spo", "thu", "qua", "sko",
    ];
    let mut word = String::new();
    let mut rest = rank + 32;
    while 0 < rest {
        word.push_str(SYLLABLES[(rest % 32) as usize]);
        rest /= 32;
    }
    word
}

/// Returns the text of note `number`.
pub fn note_text(number: u32) -> String {
    let mut chance = CorpusRandom::new(u64::from(number) + 1);
    let words = 45 + chance.below(31);
    let mut text = String::with_capacity(512);
    for position in 0..words {
        let separator = match position {
            0 => "",
            _ if chance.below(12) == 0 => ". ",
            _ => " ",
        };
        text.push_str(separator);
        text.push_str(&word(chance.rank()));
    }
    text.push_str(".\n");
    text
}

/// Returns note `number` as a Markdown file with front matter.
pub fn note_file(number: u32) -> String {
    let mut chance = CorpusRandom::new(u64::from(number) + 7_777_777);
    let tag = word(chance.below(200));
    let mut note = String::new();
    let (month, day) = (1 + chance.below(12), 1 + chance.below(28));
    write!(
        note,
        "---\ntags: [{tag}]\ncreated: 2026-{month:02}-{day:02}\n---\n{}",
        note_text(number)
    )
    .expect("a string takes all");
    note
}

/// Returns query `number`: 3 to 5 words of high, medium and arbitrary frequency.
pub fn query_text(number: u32) -> String {
    let mut chance = CorpusRandom::new(u64::from(number) + 99_999_999);
    let words = 3 + chance.below(3);
    let words: Vec<_> = (0..words)
        .map(|position| match position {
            0 => word(chance.below(20)),
            1 => word(20 + chance.below(2_000)),
            _ => word(chance.rank()),
        })
        .collect();
    words.join(" ")
}

/// The kinds of words in generated queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QueryMix {
    /// 3 to 5 words of high, medium and arbitrary frequency.
    #[default]
    Mixed,
    /// 4 words of the rarer half of the vocabulary.
    Rare,
    /// 4 words, each with a letter that is missing, wrong or swapped with the next one.
    Misspelled,
}

impl FromStr for QueryMix {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "mixed" => Ok(Self::Mixed),
            "rare" => Ok(Self::Rare),
            "misspelled" => Ok(Self::Misspelled),
            other => Err(format!(
                "no such mix of queries: {other}; there are mixed, rare and misspelled"
            )),
        }
    }
}

impl QueryMix {
    /// Returns query `number` of this kind.
    pub fn query(self, number: u32) -> String {
        let mut chance = CorpusRandom::new(u64::from(number) + 55_555_555);
        let words: Vec<_> = match self {
            Self::Mixed => return query_text(number),
            Self::Rare => (0..4)
                .map(|_| word(VOCABULARY_SIZE / 2 + chance.below(VOCABULARY_SIZE / 2)))
                .collect(),
            Self::Misspelled => (0..4)
                .map(|_| {
                    // The first 2,000 words are too short for typo correction.
                    let word = word(2_000 + chance.below(VOCABULARY_SIZE - 2_000));
                    misspell(&word, &mut chance)
                })
                .collect(),
        };
        words.join(" ")
    }
}

/// Returns `word` with a letter behind the first one missing, wrong or swapped with the next one.
fn misspell(word: &str, chance: &mut CorpusRandom) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let place =
        1 + chance.below(u32::try_from(letters.len()).expect("words are short") - 2) as usize;
    match chance.below(3) {
        0 => drop(letters.remove(place)),
        1 => letters[place] = 'x',
        _ => letters.swap(place, place + 1),
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_word_is_one_edit_away_and_never_differs_in_the_first_letter() {
        for number in 0..1_000 {
            let word = word(2_000 + number);
            let misspelled = misspell(&word, &mut CorpusRandom::new(u64::from(number)));
            assert_eq!(
                word.as_bytes()[0],
                misspelled.as_bytes()[0],
                "{word}, {misspelled}"
            );
            assert!(word.len() - misspelled.len() <= 1, "{word}, {misspelled}");
        }
    }

    #[test]
    fn notes_have_about_sixty_words_and_are_the_same_every_time() {
        let words: usize = (0..1_000)
            .map(|number| note_text(number).split_whitespace().count())
            .sum();
        assert!((58_000..62_000).contains(&words), "{words}");
        assert_eq!(note_file(7), note_file(7));
        assert_ne!(note_text(7), note_text(8));
    }

    #[test]
    fn questions_have_three_to_five_words() {
        assert!((0..1_000).all(|number| (3..=5).contains(&query_text(number).split(' ').count())));
    }
}
