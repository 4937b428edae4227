//! Tests of the recall of candidate search.

use std::collections::HashSet;

use crate::similar::{MinHash, TextFingerprint, candidate_pairs};

/// A deterministic pseudo-random generator (`SplitMix64`).
struct RecallRandom(u64);

impl RecallRandom {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % limit
    }

    /// Returns a word; a few words are frequent, as in a natural language.
    fn word(&mut self, is_chinese: bool) -> String {
        let rank = (1 << self.below(12)) + self.below(40);
        let letter = |place: u32| {
            char::from_u32(if is_chinese {
                0x4e00 + place * 7 % 20_000
            } else {
                97 + place % 26
            })
        };
        let rank = u32::try_from(rank).expect("it is small");
        let places = if is_chinese {
            vec![rank]
        } else {
            vec![rank, rank / 26 + 7, rank % 7, rank / 100]
        };
        places.into_iter().filter_map(letter).collect()
    }
}

/// Returns texts; every third one is the previous one with some words replaced.
fn generate_texts(chance: &mut RecallRandom, is_chinese: bool) -> Vec<Vec<String>> {
    let mut texts: Vec<Vec<String>> = Vec::new();
    for number in 0..900 {
        let edited = texts.last().filter(|_| number % 3 == 2).cloned();
        let is_edit = edited.is_some();
        let length = 8 + chance.below(70);
        let mut words =
            edited.unwrap_or_else(|| (0..length).map(|_| chance.word(is_chinese)).collect());
        let share = 5 + chance.below(16);
        for word in &mut words {
            if is_edit && chance.below(100) < share {
                *word = chance.word(is_chinese);
            }
        }
        texts.push(words);
    }
    texts
}

#[track_caller]
fn assert_recall(is_chinese: bool) {
    let separator = if is_chinese { "" } else { " " };
    let texts: Vec<_> = generate_texts(&mut RecallRandom(7), is_chinese)
        .iter()
        .map(|words| words.join(separator))
        .collect();
    let sketches: Vec<_> = texts.iter().map(|text| MinHash::of(text)).collect();
    let readings: Vec<_> = texts.iter().map(|text| TextFingerprint::of(text)).collect();
    let found: HashSet<_> = candidate_pairs(&sketches)
        .into_iter()
        .map(|(one, other)| (one as usize, other as usize))
        .collect();
    let (mut alike, mut missed, mut edited, mut edited_found) = (0, 0, 0, 0);
    for one in 0..texts.len() {
        // Only adjacent texts are similar by construction; a sample of the other pairs is checked as well.
        for other in
            (one + 1..texts.len()).filter(|other| other - one < 3 || other % 50 == one % 50)
        {
            let likeness = readings[one].compare(&readings[other]);
            if 0.8 <= likeness.jaccard {
                alike += 1;
                missed += usize::from(!found.contains(&(one, other)));
            }
        }
        if one % 3 == 2 {
            edited += 1;
            edited_found += usize::from(found.contains(&(one - 1, one)));
        }
    }
    assert!(50 < alike && missed * 50 <= alike, "{missed} of {alike}");
    assert!(
        edited * 9 <= edited_found * 10,
        "{edited_found} of {edited}"
    );
    assert!(
        found.len() < 4 * texts.len(),
        "{} pairs for {} texts",
        found.len(),
        texts.len()
    );
}

#[test]
fn of_english_texts_that_share_four_fifths_98_of_100_are_candidates() {
    assert_recall(false);
}

#[test]
fn of_chinese_texts_that_share_four_fifths_98_of_100_are_candidates() {
    assert_recall(true);
}
