//! Nearest-neighbour search by the query vector.

use std::collections::HashMap;

use memory_core::QueryVector;
use rusqlite::Connection;

use super::candidate::SearchCandidate;
use crate::index::embeddings::text_hashes_of;
use crate::index::error::IndexError;
use crate::index::vectors::ModelVectors;

/// Number of nearest neighbours that are ranked.
const MAX_NEAREST: usize = 100;

/// Minimum similarity at which a document matches by its vector alone.
///
/// The unit is standard deviations above the mean. On `PrefEval`, it finds 82 % of
/// the answers; 1.5 finds 81 % and 2.0 finds 74 %.
const MIN_MATCH: f32 = 1.0;

/// Minimum cosine at which a document matches by its vector alone.
///
/// Otherwise the best of few unrelated documents would match every question.
const MIN_COSINE: f32 = 0.2;

/// Minimum number of vectors for a meaningful mean and deviation.
///
/// Of five vectors, no value can be more than 2 deviations above their mean.
const MIN_VECTORS: usize = 16;

/// The distribution to assume for fewer vectors: about that of unrelated questions and messages.
///
/// Their mean is 0.09 to 0.13 and their deviation 0.07 to 0.11 in five sets with the built-in model, 0.06 and 0.08 with all-MiniLM-L6-v2.
const DEFAULT_DISTRIBUTION: CosineDistribution = CosineDistribution {
    mean: 0.1,
    deviation: 0.12,
};

/// Deviations up to this value are rounding errors: all vectors are equally similar.
const MIN_DEVIATION: f32 = 1e-4;

/// The mean and the standard deviation of the cosines of all vectors with that of the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CosineDistribution {
    mean: f32,
    deviation: f32,
}

impl CosineDistribution {
    /// Returns a cosine in standard deviations above the mean.
    fn standardize(self, cosine: f32) -> f32 {
        if self.deviation <= MIN_DEVIATION {
            0.0
        } else {
            (cosine - self.mean) / self.deviation
        }
    }

    /// Returns the cosine that is so many standard deviations above the mean.
    pub(super) fn cosine(self, similarity: f32) -> f32 {
        self.mean + similarity * self.deviation
    }
}

/// The similarity of stored vectors to a query vector; outdated vectors of changed texts are ignored.
pub(super) struct VectorMatches<'v> {
    vectors: &'v ModelVectors,
    question: &'v [f32],
    pub(super) distribution: CosineDistribution,
    /// The nearest neighbours by document key.
    nearest: HashMap<i64, PassageMatch>,
}

/// The passage of a document that is most similar to the query vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassageMatch {
    /// Its similarity, in standard deviations above the mean.
    pub(super) similarity: f32,
    /// Its number, from 0.
    pub(super) number: usize,
}

impl<'v> VectorMatches<'v> {
    /// Finds the nearest neighbours among the documents in `allowed`.
    pub(super) fn new(
        rows: &Connection,
        vectors: &'v ModelVectors,
        question: QueryVector<'v>,
        allowed: &KeySet,
    ) -> Result<Self, IndexError> {
        let nearest =
            vectors.nearest(question.vector, MAX_NEAREST, &|key| allowed.contains(key))?;
        let distribution = if nearest.compared < MIN_VECTORS {
            DEFAULT_DISTRIBUTION
        } else {
            CosineDistribution {
                mean: nearest.mean,
                deviation: nearest.deviation,
            }
        };
        let mut near = Self {
            vectors,
            question: question.vector,
            distribution,
            nearest: HashMap::new(),
        };
        near.nearest = near.of(rows, nearest.best.into_iter().map(|(key, _)| key))?;
        Ok(near)
    }

    /// Returns the keys of the nearest neighbours, in ascending order.
    pub(super) fn keys(&self) -> Vec<i64> {
        let mut keys: Vec<i64> = self.nearest.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// Returns whether a document is a nearest neighbour that matches by its vector alone.
    pub(super) fn is_match(&self, key: i64) -> bool {
        self.nearest
            .get(&key)
            .is_some_and(|best| self.least_match() <= best.similarity)
    }

    fn least_match(&self) -> f32 {
        self.distribution.standardize(MIN_COSINE).max(MIN_MATCH)
    }

    /// Returns the best passage of each document that has current vectors.
    pub(super) fn passages(
        &self,
        rows: &Connection,
        found: &[SearchCandidate],
    ) -> Result<HashMap<i64, PassageMatch>, IndexError> {
        self.of(rows, found.iter().map(|found| found.key))
    }

    fn of(
        &self,
        rows: &Connection,
        keys: impl Iterator<Item = i64>,
    ) -> Result<HashMap<i64, PassageMatch>, IndexError> {
        let texts = text_hashes_of(rows, keys)?;
        let best = self.vectors.cosines_of(self.question, &texts)?;
        let passage = |(cosine, number)| PassageMatch {
            similarity: self.distribution.standardize(cosine),
            number,
        };
        Ok(texts
            .iter()
            .zip(best)
            .filter_map(|((key, _), best)| Some((*key, passage(best?))))
            .collect())
    }
}

/// A set of document keys, stored as a bitmap; negative keys are ignored.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<u64>);

impl KeySet {
    pub(super) fn insert(&mut self, key: i64) {
        let Ok(key) = usize::try_from(key) else {
            return;
        };
        if self.0.len() <= key / 64 {
            self.0.resize(key / 64 + 1, 0);
        }
        self.0[key / 64] |= 1 << (key % 64);
    }

    pub(super) fn contains(&self, key: i64) -> bool {
        usize::try_from(key).is_ok_and(|key| {
            self.0
                .get(key / 64)
                .is_some_and(|word| word >> (key % 64) & 1 == 1)
        })
    }
}
