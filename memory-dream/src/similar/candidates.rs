//! Finds candidate pairs of similar texts by their sketches, and groups of pairs.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};

use super::fingerprint::TextFingerprint;
use super::min_hash::{BANDS, MinHash};
use super::word_casing::WordCasing;

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
    let mut pairs = CandidatePairs {
        found: Vec::new(),
        limit: INITIAL_PAIRS,
    };
    let mut keys: Vec<(u64, u32)> = Vec::with_capacity(sketches.len());
    for band in 0..BANDS {
        keys.clear();
        keys.extend(
            (0_u32..)
                .zip(sketches)
                .map(|(number, sketch)| (sketch.band(band), number)),
        );
        keys.sort_unstable();
        for group in keys
            .chunk_by_mut(|one, other| one.0 == other.0)
            .filter(|group| 1 < group.len())
        {
            add_pairs(group, band, sketches, &mut pairs);
        }
    }
    pairs.remove_duplicates();
    let seem_alike = |(one, other): &(u32, u32)| {
        MIN_RESEMBLANCE <= sketches[*one as usize].resemblance(&sketches[*other as usize])
    };
    pairs
        .found
        .into_iter()
        .map(unpack_pair)
        .filter(seem_alike)
        .collect()
}

fn add_pairs(
    group: &mut [(u64, u32)],
    band: usize,
    sketches: &[MinHash],
    pairs: &mut CandidatePairs,
) {
    if MAX_NEIGHBOURS + 1 < group.len() {
        // Sorting by the bands after the equal one places the most similar sketches next to each other.
        let next = (band + 1) % BANDS;
        for (key, number) in &mut *group {
            *key = sketches[*number as usize].band(next);
        }
        let sketch = |number: u32| &sketches[number as usize];
        group.sort_unstable_by(|(one_key, one), (other_key, other)| {
            let by_values = || compare_values(sketch(*one), sketch(*other), next);
            one_key
                .cmp(other_key)
                .then_with(by_values)
                .then(one.cmp(other))
        });
    }
    for (place, (_, number)) in group.iter().enumerate() {
        for (_, other) in group[place + 1..].iter().take(MAX_NEIGHBOURS) {
            pairs.push(*number, *other);
        }
    }
}

fn compare_values(one: &MinHash, other: &MinHash, band: usize) -> Ordering {
    if one == other {
        Ordering::Equal
    } else {
        one.values_from(band).cmp(other.values_from(band))
    }
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
        self.found
            .push(u64::from(one.min(other)) << 32 | u64::from(one.max(other)));
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

/// Combines the texts in `pairs` into disjoint groups of at least two members.
///
/// The first member of each group is the one to retain; every other was accepted into the group. `order` lists all texts, those to retain
/// first. `accepts` decides whether a group takes another member; its first argument is never empty and starts with the text to retain. A
/// rejected text does not extend the group, and `accepts` is called at most once per group and text.
pub fn group_duplicates(
    order: &[u32],
    pairs: &[(u32, u32)],
    accepts: &mut dyn FnMut(&[u32], u32) -> bool,
) -> Vec<Vec<u32>> {
    let neighbours = PairIndex::of(pairs);
    let mut free: HashSet<u32> = order.iter().copied().collect();
    let mut groups = Vec::new();
    for first in order {
        if !free.remove(first) {
            continue;
        }
        let mut group = vec![*first];
        let mut asked = HashSet::new();
        let mut waiting = VecDeque::from([*first]);
        while let Some(member) = waiting.pop_front() {
            for next in neighbours.neighbours(member) {
                if free.contains(&next) && asked.insert(next) && accepts(&group, next) {
                    free.remove(&next);
                    group.push(next);
                    waiting.push_back(next);
                }
            }
        }
        if 1 < group.len() {
            groups.push(group);
        }
    }
    groups
}

/// Returns the groups of texts that are duplicates of their first member, as ascending positions in `texts`.
///
/// ```
/// use memory_dream::similar::group_repeats;
///
/// let texts = ["The port is 8080", "Anna prefers tea", "the port is 8080.", "The port is 8081"];
/// assert_eq!(group_repeats(&texts), [[0, 2]]);
/// ```
pub fn group_repeats(texts: &[&str]) -> Vec<Vec<usize>> {
    let sketches: Vec<MinHash> = texts.iter().map(|text| MinHash::of(text)).collect();
    let pairs = candidate_pairs(&sketches);
    let mut order: Vec<u32> = pairs
        .iter()
        .flat_map(|(one, other)| [*one, *other])
        .collect();
    order.sort_unstable();
    order.dedup();
    let known: HashMap<u32, (TextFingerprint, WordCasing)> = order
        .iter()
        .map(|number| {
            let text = texts[*number as usize];
            (*number, (TextFingerprint::of(text), WordCasing::of(text)))
        })
        .collect();
    let mut is_repeat = |group: &[u32], next: u32| {
        let (first, next) = (&known[&group[0]], &known[&next]);
        first.0.is_duplicate_of(&next.0) && first.1.agrees_with(&next.1)
    };
    let groups = group_duplicates(&order, &pairs, &mut is_repeat);
    let ascending = groups.into_iter().map(|group| {
        let mut group: Vec<usize> = group.into_iter().map(|number| number as usize).collect();
        group.sort_unstable();
        group
    });
    ascending.collect()
}

/// Both directions of each pair, sorted.
struct PairIndex(Vec<(u32, u32)>);

impl PairIndex {
    fn of(pairs: &[(u32, u32)]) -> Self {
        let mut both: Vec<_> = pairs
            .iter()
            .flat_map(|(one, other)| [(*one, *other), (*other, *one)])
            .collect();
        both.sort_unstable();
        Self(both)
    }

    fn neighbours(&self, number: u32) -> impl Iterator<Item = u32> {
        let start = self.0.partition_point(|(one, _)| *one < number);
        self.0[start..]
            .iter()
            .take_while(move |(one, _)| *one == number)
            .map(|(_, other)| *other)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::group_duplicates;

    #[test]
    fn likeness_is_no_chain() {
        let is_near = |group: &[u32], next: u32| group[0].abs_diff(next) < 2;
        assert_eq!(
            group_duplicates(&[0, 1, 2, 3], &[(0, 1), (1, 2), (2, 3)], &mut { is_near }),
            [[0, 1], [2, 3]]
        );
        assert_eq!(
            group_duplicates(&[1, 0, 2, 3], &[(0, 1), (1, 2), (2, 3)], &mut { is_near }),
            [[1, 0, 2]]
        );
    }

    #[test]
    fn one_that_is_no_neighbour_joins_through_one_that_is() {
        assert_eq!(
            group_duplicates(&[0, 1, 2], &[(0, 1), (1, 2)], &mut |_, _| true),
            [[0, 1, 2]]
        );
        assert!(group_duplicates(&[0, 1, 2], &[(0, 1), (1, 2)], &mut |_, _| false).is_empty());
    }

    proptest! {
        #[test]
        fn nobody_is_in_two_groups_and_all_were_accepted(
            pairs in proptest::collection::vec((0..20_u32, 0..20_u32), 0..60),
            like in proptest::collection::vec(any::<bool>(), 400),
        ) {
            let order: Vec<_> = (0..20).collect();
            let mut accepted = Vec::new();
            let found = group_duplicates(&order, &pairs, &mut |group, next| {
                let is_like = like[(group[0] * 20 + next) as usize];
                accepted.extend(is_like.then_some((group[0], next)));
                is_like
            });
            let mut members: Vec<_> = found.concat();
            members.sort_unstable();
            prop_assert!(members.is_sorted_by(|one, other| one < other));
            for group in &found {
                prop_assert!(1 < group.len() && group[1..].iter().all(|member| accepted.contains(&(group[0], *member))));
            }
        }
    }
}
