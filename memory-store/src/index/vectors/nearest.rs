//! Finds the documents with the vectors nearest to a query.

use std::cmp::Ordering;
use std::thread;

use memory_core::{ContentHash, StoreError};

use super::open::ModelVectors;
use super::scan::{ScanCandidate, VectorScan, scan};
use super::unit_vector::UnitVector;
use super::view::RowsView;

/// Number of rows that justify a thread.
const ROWS_PER_THREAD: usize = 100_000;

/// Maximum number of threads: more do not increase the memory bandwidth.
const MAX_THREADS: usize = 8;

/// Minimum number of candidates.
const MIN_CANDIDATES: usize = 256;

/// Factor for the number of candidates in the second scan, if the first cannot prove its result.
const CANDIDATE_GROWTH: usize = 16;

/// The documents nearest to a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NearestVectors {
    /// The keys and cosine similarities, the nearest first, ties by key.
    pub best: Vec<(i64, f32)>,
    /// Number of vectors that are not zero, allowed or not.
    pub compared: usize,
    /// The mean of their cosine similarities, rounded to some thousandths.
    pub mean: f32,
    /// The standard deviation of their cosine similarities.
    pub deviation: f32,
}

impl ModelVectors {
    /// Returns the `count` allowed documents with the vectors nearest to `query`.
    ///
    /// The search is exhaustive: it compares every vector.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if `query` is not a valid vector of this model.
    pub fn nearest(
        &self,
        query: &[f32],
        count: usize,
        allowed: &(dyn Fn(i64) -> bool + Sync),
    ) -> Result<NearestVectors, StoreError> {
        let query = UnitVector::of("the query", query, self.layout.dimensions)?;
        let Some(view) = &self.view else {
            return Ok(NearestVectors::default());
        };
        let threads = thread_count(view.rows());
        Ok(nearest(
            view,
            &query,
            &VectorSearchLimits {
                count,
                candidates: MIN_CANDIDATES,
                threads,
            },
            allowed,
        ))
    }

    /// Returns the cosine similarity of each document to `query`; `None` without a vector.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if `query` is not a valid vector of this model.
    pub fn cosines(&self, query: &[f32], keys: &[i64]) -> Result<Vec<Option<f32>>, StoreError> {
        let query = UnitVector::of("the query", query, self.layout.dimensions)?;
        let Some(view) = &self.view else {
            return Ok(vec![None; keys.len()]);
        };
        let slots = view.slots(keys.iter().copied());
        let cosine = |key: &i64| Some(query.cosine(view.row(*slots.get(key)?)?.direction()?));
        Ok(keys.iter().map(cosine).collect())
    }

    /// Returns the cosine similarity of each pair of documents.
    ///
    /// It is `None` unless both have a vector for the text with the given hash.
    pub fn cosines_between(&self, pairs: &[[(i64, ContentHash); 2]]) -> Vec<Option<f32>> {
        let Some(view) = &self.view else {
            return vec![None; pairs.len()];
        };
        let slots = view.slots(pairs.iter().flatten().map(|(key, _)| *key));
        let row = |(key, text): &(i64, ContentHash)| {
            Some(view.row(*slots.get(key)?)?).filter(|row| row.text == *text)
        };
        let cosine = |[one, other]: &[(i64, ContentHash); 2]| {
            let (one, other) = (row(one)?.direction()?, row(other)?.direction()?);
            Some(one.iter().zip(other).map(|(one, other)| one * other).sum())
        };
        pairs.iter().map(cosine).collect()
    }

    /// Returns the cosine similarity of each document to `query`.
    ///
    /// It is `None` unless the document has a vector for the text with the given hash.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if `query` is not a valid vector of this model.
    pub fn cosines_of(
        &self,
        query: &[f32],
        documents: &[(i64, ContentHash)],
    ) -> Result<Vec<Option<f32>>, StoreError> {
        let query = UnitVector::of("the query", query, self.layout.dimensions)?;
        let Some(view) = &self.view else {
            return Ok(vec![None; documents.len()]);
        };
        let slots = view.slots(documents.iter().map(|(key, _)| *key));
        let cosine = |(key, text): &(i64, ContentHash)| {
            let row = view.row(*slots.get(key)?)?;
            row.direction()
                .filter(|_| row.text == *text)
                .map(|direction| query.cosine(direction))
        };
        Ok(documents.iter().map(cosine).collect())
    }
}

/// The limits of a search.
#[derive(Debug)]
pub(super) struct VectorSearchLimits {
    pub(super) count: usize,
    /// Minimum number of candidates.
    pub(super) candidates: usize,
    pub(super) threads: usize,
}

/// Finds the nearest among all rows.
pub(super) fn nearest(
    view: &RowsView,
    query: &UnitVector,
    wanted: &VectorSearchLimits,
    allowed: &(dyn Fn(i64) -> bool + Sync),
) -> NearestVectors {
    let codes = query.quantize();
    let limit = wanted
        .count
        .saturating_mul(4)
        .max(wanted.candidates)
        .min(view.rows().max(1));
    let mut found = scan(view, &codes, limit, wanted.threads, allowed);
    let mut best = exact_best(view, query, &found.candidates, wanted.count);
    if !is_proven(&best, wanted.count, found.others_at_most) {
        let limit = limit.saturating_mul(CANDIDATE_GROWTH).min(view.rows());
        found = scan(view, &codes, limit, wanted.threads, allowed);
        best = exact_best(view, query, &found.candidates, wanted.count);
    }
    let (mean, deviation) = spread(&found);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a count of rows"
    )]
    let compared = found.rows as usize;
    NearestVectors {
        best,
        compared,
        mean,
        deviation,
    }
}

/// Returns whether no row outside the candidates can belong to the result.
fn is_proven(best: &[(i64, f32)], count: usize, others_at_most: Option<f32>) -> bool {
    let Some(others) = others_at_most else {
        return true;
    };
    match count.checked_sub(1) {
        None => true,
        Some(last) => best.get(last).is_some_and(|(_, cosine)| others <= *cosine),
    }
}

/// Returns the `count` nearest candidates by their exact cosines.
///
/// `candidates` must be sorted by upper bound.
fn exact_best(
    view: &RowsView,
    query: &UnitVector,
    candidates: &[ScanCandidate],
    count: usize,
) -> Vec<(i64, f32)> {
    let mut best: Vec<(i64, f32)> = Vec::new();
    for candidate in candidates {
        let least = count.checked_sub(1).map_or(Some(f32::INFINITY), |last| {
            best.get(last).map(|(_, cosine)| *cosine)
        });
        // Each exact cosine reads a page of the file, so the loop stops at candidates that cannot be in the result.
        if least.is_some_and(|least| candidate.at_most < least) {
            break;
        }
        let Some(row) = view.row(candidate.slot) else {
            continue;
        };
        let found = (row.key, query.cosine(row.exact));
        let place = best.partition_point(|other| nearer(other, &found).is_lt());
        best.insert(place, found);
        best.truncate(count);
    }
    best
}

/// Orders the nearer first, ties by key.
fn nearer(one: &(i64, f32), other: &(i64, f32)) -> Ordering {
    other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
}

/// Returns the mean and the standard deviation of all cosines.
#[expect(
    clippy::cast_possible_truncation,
    reason = "both lie between -1.5 and 1.5"
)]
fn spread(found: &VectorScan) -> (f32, f32) {
    if found.rows < 1.0 {
        return (0.0, 0.0);
    }
    let mean = found.sum / found.rows;
    let variance = (found.squares / found.rows - mean * mean).max(0.0);
    (mean as f32, variance.sqrt() as f32)
}

/// Returns the number of threads for a scan of `rows` rows.
fn thread_count(rows: usize) -> usize {
    match rows / ROWS_PER_THREAD {
        // The query of the number of cores takes longer than a scan of some thousand rows.
        0 | 1 => 1,
        worth => worth
            .min(MAX_THREADS)
            .min(thread::available_parallelism().map_or(1, usize::from)),
    }
}
