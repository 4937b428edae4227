//! Reordering of candidates for diversity.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Returns the indices of the best `limit` candidates by maximal marginal relevance, best first.
///
/// See Carbonell and Goldstein, "The Use of MMR", 1998. Each step selects the candidate with the largest
/// `lambda · relevance − (1 − lambda) · similarity`, where the similarity is that to the most similar selected candidate. Relevance and
/// similarity range from 0 to 1. With a `lambda` of 1, the order is that of relevance alone. Ties go to the candidate with the lower
/// index.
///
/// The gain of a candidate never grows as others are selected. Therefore only the candidate with the largest bound is compared, and
/// only with those selected since its last comparison; no pair is compared twice.
pub fn select_diverse(
    relevance: &[f32],
    lambda: f32,
    limit: usize,
    similarity: &dyn Fn(usize, usize) -> f32,
) -> Vec<usize> {
    let alone = |(number, relevance): (usize, &f32)| PendingCandidate {
        gain: lambda * relevance,
        number,
        nearest: 0.0,
        compared: 0,
    };
    let mut waiting: BinaryHeap<PendingCandidate> =
        relevance.iter().enumerate().map(alone).collect();
    let mut taken: Vec<usize> = Vec::with_capacity(limit.min(relevance.len()));
    while taken.len() < limit
        && let Some(mut next) = waiting.pop()
    {
        if lambda < 1.0 && next.compared < taken.len() {
            let likest = taken[next.compared..]
                .iter()
                .map(|other| similarity(next.number, *other));
            next.nearest = likest.fold(next.nearest, f32::max);
            next.compared = taken.len();
            next.gain = lambda * relevance[next.number] - (1.0 - lambda) * next.nearest;
            waiting.push(next);
        } else {
            taken.push(next.number);
        }
    }
    taken
}

/// Minimum share of common words at which two texts are near-duplicates.
pub const NEAR_DUPLICATE: f32 = 0.9;

/// Returns the indices of the first `limit` of `count` candidates, near-duplicates last.
///
/// A candidate is a near-duplicate if its similarity to an earlier distinct candidate is at least [`NEAR_DUPLICATE`]. Otherwise the order
/// is unchanged.
pub fn duplicates_last(
    count: usize,
    limit: usize,
    similarity: &dyn Fn(usize, usize) -> f32,
) -> Vec<usize> {
    let mut distinct: Vec<usize> = Vec::with_capacity(limit.min(count));
    let mut duplicates = Vec::new();
    for number in 0..count {
        if limit <= distinct.len() {
            break;
        }
        let is_duplicate = distinct
            .iter()
            .any(|other| NEAR_DUPLICATE <= similarity(number, *other));
        if is_duplicate {
            duplicates.push(number);
        } else {
            distinct.push(number);
        }
    }
    distinct.extend(duplicates);
    distinct.truncate(limit);
    distinct
}

/// A candidate that is not yet selected.
#[derive(Debug, Clone, Copy)]
struct PendingCandidate {
    /// Upper bound of the gain of the candidate.
    gain: f32,
    number: usize,
    /// The largest similarity to a selected candidate so far.
    nearest: f32,
    /// The number of selected candidates compared so far.
    compared: usize,
}

impl Ord for PendingCandidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain
            .total_cmp(&other.gain)
            .then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for PendingCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PendingCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PendingCandidate {}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::{duplicates_last, select_diverse};

    #[test]
    fn what_repeats_a_better_one_comes_later() {
        let alike = |one: usize, other: usize| if (one, other) == (1, 0) { 1.0 } else { 0.0 };
        assert_eq!(select_diverse(&[0.9, 0.89, 0.5], 0.7, 3, &alike), [0, 2, 1]);
        assert_eq!(select_diverse(&[0.9, 0.89, 0.5], 1.0, 2, &alike), [0, 1]);
    }

    #[test]
    fn near_duplicates_come_last_and_the_rest_keeps_its_order() {
        let alike = |one: usize, other: usize| {
            if (one, other) == (1, 0) || (one, other) == (3, 0) {
                0.95
            } else {
                0.89
            }
        };
        assert_eq!(duplicates_last(5, 5, &alike), [0, 2, 4, 1, 3]);
        assert_eq!(duplicates_last(5, 2, &alike), [0, 2]);
        assert_eq!(duplicates_last(2, 2, &alike), [0, 1]);
    }

    #[test]
    fn what_cannot_be_next_is_compared_with_nothing() {
        let relevance: Vec<f32> = (0..10_000_u16)
            .map(|number| 1.0 / (1.0 + f32::from(number)))
            .collect();
        let comparisons = Cell::new(0);
        let alike = |_: usize, _: usize| {
            comparisons.set(comparisons.get() + 1);
            0.01
        };
        assert_eq!(
            select_diverse(&relevance, 0.7, 10, &alike),
            (0..10).collect::<Vec<_>>()
        );
        assert!(comparisons.get() < 200, "{}", comparisons.get());
    }

    /// A direct implementation of the definition.
    fn select_naively(
        relevance: &[f32],
        lambda: f32,
        limit: usize,
        similarity: &dyn Fn(usize, usize) -> f32,
    ) -> Vec<usize> {
        let mut taken: Vec<usize> = Vec::new();
        while taken.len() < limit.min(relevance.len()) {
            let gain = |number: usize| {
                let nearest = taken
                    .iter()
                    .map(|other| similarity(number, *other))
                    .fold(0.0, f32::max);
                lambda * relevance[number] - (1.0 - lambda) * nearest
            };
            let left = (0..relevance.len()).filter(|number| !taken.contains(number));
            let next = left.reduce(|best, number| {
                if gain(best) < gain(number) {
                    number
                } else {
                    best
                }
            });
            taken.push(next.expect("some are left"));
        }
        taken
    }

    proptest! {
        #[test]
        fn nothing_is_taken_twice_and_the_best_comes_first(relevance in proptest::collection::vec(0.0_f32..1.0, 1..20), lambda in 0.1_f32..1.0) {
            let taken = select_diverse(&relevance, lambda, 20, &|_, _| 0.5);
            let mut sorted = taken.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..relevance.len()).collect::<Vec<_>>());
            prop_assert!(relevance.iter().all(|other| *other <= relevance[taken[0]]));
        }

        #[test]
        fn it_is_what_the_definition_says(
            relevance in proptest::collection::vec(prop_oneof![Just(0.5_f32), 0.0_f32..1.0], 0..25),
            likeness in proptest::collection::vec(prop_oneof![Just(0.0_f32), 0.0_f32..1.0], 25),
            lambda in 0.0_f32..=1.0,
            limit in 0_usize..30,
        ) {
            let alike = |one: usize, other: usize| likeness[(one + other) % 25];
            prop_assert_eq!(select_diverse(&relevance, lambda, limit, &alike), select_naively(&relevance, lambda, limit, &alike));
        }
    }
}
