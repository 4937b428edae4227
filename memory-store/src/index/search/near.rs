//! What lies near a question by its vector.

use std::collections::HashMap;

use memory_core::QuestionVector;
use rusqlite::Connection;

use super::found::Found;
use crate::index::embeddings::texts_of;
use crate::index::trouble::Trouble;
use crate::index::vectors::Vectors;

/// So many of the nearest are weighed.
const NEAREST: usize = 100;

/// From so many standard deviations above the mean on, nearness alone makes an answer.
const MATCHES: f32 = 2.0;

/// Fewer vectors tell neither what is usual nor what is not: of five, none can lie 2 deviations above their mean.
const FEW: usize = 16;

/// What is usual stands in for it then: a little more than the mean and the deviation of cosines of texts that have nothing to
/// do with each other, which are 0.06 and 0.08 for all-MiniLM-L6-v2. From 0.34 on, as 1 pair of 200 is by chance, nearness
/// alone makes an answer.
const USUAL: (f32, f32) = (0.1, 0.12);

/// Deviations below this are rounding: all vectors are equally far away.
const ALIKE: f32 = 1e-4;

/// The vectors, seen from a question. Vectors of texts that have changed count as not there.
pub(super) struct Near<'v> {
    vectors: &'v Vectors,
    question: &'v [f32],
    mean: f32,
    deviation: f32,
    /// How near the nearest are, by their keys.
    nearest: HashMap<i64, f32>,
}

impl<'v> Near<'v> {
    /// Looks for the nearest among those that `allowed` holds.
    pub(super) fn new(
        rows: &Connection,
        vectors: &'v Vectors,
        question: QuestionVector<'v>,
        allowed: &Keys,
    ) -> Result<Self, Trouble> {
        let nearest = vectors.nearest(question.vector, NEAREST, &|key| allowed.contains(key))?;
        let (mean, deviation) = if nearest.compared < FEW { USUAL } else { (nearest.mean, nearest.deviation) };
        let mut near = Self { vectors, question: question.vector, mean, deviation, nearest: HashMap::new() };
        near.nearest = near.of(rows, nearest.best.into_iter().map(|(key, _)| key))?;
        Ok(near)
    }

    /// Returns the keys of the nearest, in order.
    pub(super) fn keys(&self) -> Vec<i64> {
        let mut keys: Vec<i64> = self.nearest.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// Tells whether something of the nearest is an answer by that alone.
    pub(super) fn is_answer(&self, key: i64) -> bool {
        self.nearest.get(&key).is_some_and(|cosine| MATCHES <= *cosine)
    }

    /// Returns the cosines of what was found, in standard deviations above the mean.
    pub(super) fn cosines(&self, rows: &Connection, found: &[Found]) -> Result<HashMap<i64, f32>, Trouble> {
        self.of(rows, found.iter().map(|found| found.key))
    }

    fn of(&self, rows: &Connection, keys: impl Iterator<Item = i64>) -> Result<HashMap<i64, f32>, Trouble> {
        let texts = texts_of(rows, keys)?;
        let cosines = self.vectors.cosines_of(self.question, &texts)?;
        let standard = |cosine: f32| if self.deviation <= ALIKE { 0.0 } else { (cosine - self.mean) / self.deviation };
        Ok(texts.iter().zip(cosines).filter_map(|((key, _), cosine)| Some((*key, standard(cosine?)))).collect())
    }
}

/// A set of keys.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<u64>);

impl Keys {
    pub(super) fn insert(&mut self, key: i64) {
        let Ok(key) = usize::try_from(key) else { return };
        if self.0.len() <= key / 64 {
            self.0.resize(key / 64 + 1, 0);
        }
        self.0[key / 64] |= 1 << (key % 64);
    }

    pub(super) fn contains(&self, key: i64) -> bool {
        usize::try_from(key).is_ok_and(|key| self.0.get(key / 64).is_some_and(|word| word >> (key % 64) & 1 == 1))
    }
}
