//! Finds candidate pairs of similar texts by their sketches.

use std::cmp::Ordering;

use super::min_hash::{BANDS, MinHash};

/// Number of successors that a text is paired with in a large group of texts with an equal band.
const MAX_NEIGHBOURS: usize = 3;

/// Pairs with a lower estimated resemblance are dropped as chance matches.
const MIN_RESEMBLANCE: f32 = 0.3;

/// Initial number of pairs to collect before duplicate pairs are removed.
const INITIAL_PAIRS: usize = 1 << 20;

/// Returns the pairs of sketches of possibly similar texts.
///
/// A pair consists of indices, the smaller one first; the pairs are sorted. Texts that share at least 0.8 of their shingles are missed with
/// probability 10⁻⁶, those that share half with probability 1/15. In large groups of similar texts, such as notes made from one template,
/// each text is paired only with its most similar ones. So there are at most sixty pairs per text, and a text joins a group of equal ones
/// through its neighbours.
pub fn candidate_pairs(sketches: &[MinHash]) -> Vec<(u32, u32)> {
    let mut pairs = CandidatePairs { found: Vec::new(), limit: INITIAL_PAIRS };
    let mut keys: Vec<(u64, u32)> = Vec::with_capacity(sketches.len());
    for band in 0..BANDS {
        keys.clear();
        keys.extend((0_u32..).zip(sketches).map(|(number, sketch)| (sketch.band(band), number)));
        keys.sort_unstable();
        for group in keys.chunk_by_mut(|one, other| one.0 == other.0).filter(|group| 1 < group.len()) {
            add_pairs(group, band, sketches, &mut pairs);
        }
    }
    pairs.remove_duplicates();
    let seem_alike =
        |(one, other): &(u32, u32)| MIN_RESEMBLANCE <= sketches[*one as usize].resemblance(&sketches[*other as usize]);
    pairs.found.into_iter().map(unpack_pair).filter(seem_alike).collect()
}

fn add_pairs(group: &mut [(u64, u32)], band: usize, sketches: &[MinHash], pairs: &mut CandidatePairs) {
    if MAX_NEIGHBOURS + 1 < group.len() {
        // Sorting by the bands after the equal one places the most similar sketches next to each other.
        let next = (band + 1) % BANDS;
        for (key, number) in &mut *group {
            *key = sketches[*number as usize].band(next);
        }
        let sketch = |number: u32| &sketches[number as usize];
        group.sort_unstable_by(|(one_key, one), (other_key, other)| {
            let by_values = || compare_values(sketch(*one), sketch(*other), next);
            one_key.cmp(other_key).then_with(by_values).then(one.cmp(other))
        });
    }
    for (place, (_, number)) in group.iter().enumerate() {
        for (_, other) in group[place + 1..].iter().take(MAX_NEIGHBOURS) {
            pairs.push(*number, *other);
        }
    }
}

fn compare_values(one: &MinHash, other: &MinHash, band: usize) -> Ordering {
    if one == other { Ordering::Equal } else { one.values_from(band).cmp(other.values_from(band)) }
}

struct CandidatePairs {
    /// Each pair packed into one number, which sorts faster.
    found: Vec<u64>,
    limit: usize,
}

impl CandidatePairs {
    fn push(&mut self, one: u32, other: u32) {
        if self.limit <= self.found.len() {
            self.remove_duplicates();
            self.limit = INITIAL_PAIRS.max(2 * self.found.len());
        }
        self.found.push(u64::from(one.min(other)) << 32 | u64::from(one.max(other)));
    }

    fn remove_duplicates(&mut self) {
        self.found.sort_unstable();
        self.found.dedup();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "these are the halves")]
fn unpack_pair(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}
