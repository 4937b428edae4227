//! A top-k collector of full-text candidates.

use std::cmp::Reverse;

use tantivy::{DocId, Score};

/// Relative difference up to which two scores may be equal.
///
/// Scores are sums of floats in varying order.
const SCORE_TOLERANCE: f32 = 1e-5;

/// A document that may be among the best.
#[derive(Debug, Clone, Copy)]
pub(super) struct TopCandidate {
    pub(super) score: Score,
    pub(super) segment: usize,
    pub(super) document: DocId,
}

/// Returns the sort key of documents with equal scores: newest first, then by ascending id.
pub(super) type TieKey<'t> = &'t dyn Fn(&TopCandidate) -> (Reverse<i64>, u128);

/// The best documents so far, including those that may tie with the last of them.
#[derive(Debug)]
pub(super) struct TopK {
    limit: usize,
    capacity: usize,
    /// Number of candidates at which the worse ones are removed.
    full: usize,
    candidates: Vec<TopCandidate>,
    threshold: Score,
}

impl TopK {
    /// Creates a collector of the best `limit` documents and all that may tie with the last of them.
    pub(super) fn new(limit: usize) -> Self {
        let capacity = limit.saturating_mul(2).saturating_add(64);
        Self {
            limit,
            capacity,
            full: next_prune_size(limit, limit),
            candidates: Vec::new(),
            threshold: Score::MIN,
        }
    }

    /// Returns the score that a document must exceed.
    pub(super) fn threshold(&self) -> Score {
        self.threshold
    }

    /// Adds a document; its score must exceed the threshold.
    pub(super) fn push(&mut self, candidate: TopCandidate, tie: TieKey<'_>) {
        self.candidates.push(candidate);
        if self.full <= self.candidates.len() {
            self.prune(tie);
            self.full = next_prune_size(self.candidates.len(), self.limit);
        }
    }

    /// Returns the collected documents in no particular order.
    pub(super) fn into_candidates(mut self, tie: TieKey<'_>) -> Vec<TopCandidate> {
        if self.limit < self.candidates.len() {
            self.prune(tie);
        }
        self.candidates
    }

    fn prune(&mut self, tie: TieKey<'_>) {
        let Some(last) = self.limit.checked_sub(1) else {
            return self.candidates.clear();
        };
        self.candidates
            .select_nth_unstable_by(last, |left, right| right.score.total_cmp(&left.score));
        let worst = self.candidates[last].score;
        self.threshold = worst * (1.0 - SCORE_TOLERANCE);
        self.candidates
            .retain(|candidate| self.threshold < candidate.score);
        if self.capacity < self.candidates.len() {
            // More documents than the capacity have an equal score; the tie breaker selects among them.
            let rounded = |score: f32| (score.to_bits().wrapping_add(64)) >> 7;
            self.candidates
                .sort_by_cached_key(|found| (Reverse(rounded(found.score)), tie(found)));
            self.candidates.truncate(self.capacity);
        }
    }
}

/// Returns the number of candidates at which the next cut pays off.
///
/// Each cut raises the threshold, and tantivy skips blocks of documents below it.
fn next_prune_size(candidates: usize, limit: usize) -> usize {
    candidates.saturating_add((limit / 4).max(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(limit: usize, scores: &[f32]) -> Vec<(f32, u32)> {
        let mut best = TopK::new(limit);
        // The later document is the newer one.
        let tie = |candidate: &TopCandidate| (Reverse(i64::from(candidate.document)), 0);
        for (document, score) in (0..).zip(scores) {
            if best.threshold() < *score {
                best.push(
                    TopCandidate {
                        score: *score,
                        segment: 0,
                        document,
                    },
                    &tie,
                );
            }
        }
        let mut found: Vec<_> = best
            .into_candidates(&tie)
            .iter()
            .map(|found| (found.score, found.document))
            .collect();
        found.sort_by(|left, right| right.0.total_cmp(&left.0).then(right.1.cmp(&left.1)));
        found.truncate(limit);
        found
    }

    #[test]
    fn the_best_are_kept_in_whatever_order_they_come() {
        let scores: Vec<f32> = (0..10_000_u16)
            .map(|number| f32::from(number.wrapping_mul(7919) % 10_007))
            .collect();
        let mut expected = scores.clone();
        expected.sort_by(|left, right| right.total_cmp(left));
        let found: Vec<f32> = offered(10, &scores).iter().map(|found| found.0).collect();
        assert_eq!(found, expected[..10]);
    }

    #[test]
    fn of_equals_the_newest_are_kept() {
        let found = offered(3, &vec![1.5; 5_000]);
        assert_eq!(found, [(1.5, 4_999), (1.5, 4_998), (1.5, 4_997)]);
    }
}
