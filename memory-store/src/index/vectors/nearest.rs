//! Which documents are nearest to a question.

use std::cmp::Ordering;
use std::thread;

use memory_core::{ContentHash, StoreError};

use super::open::Vectors;
use super::scan::{Candidate, Scan, scan};
use super::unit::Unit;
use super::view::View;

/// How many rows are worth a thread.
const ROWS_PER_THREAD: usize = 100_000;

/// How many threads are worth their start at most: memory is not faster for more.
const MOST_THREADS: usize = 8;

/// How many candidates are taken at least.
const FEWEST_CANDIDATES: usize = 256;

/// How many times more are taken when so many are alike that the first ones prove nothing.
const MORE: usize = 16;

/// The documents nearest to a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nearest {
    /// Their keys and the cosines of their angles to the question, the nearest first, equals by key.
    pub best: Vec<(i64, f32)>,
    /// How many vectors, allowed or not, have a direction.
    pub compared: usize,
    /// The mean of their cosines; rounded to some thousandths of a cosine.
    pub mean: f32,
    /// How much their cosines deviate from the mean, as the root of the mean square.
    pub deviation: f32,
}

impl Vectors {
    /// Returns those `count` documents, among the allowed, whose vectors are nearest to `query`. Every vector is looked at.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when `query` is no vector of this model.
    pub fn nearest(&self, query: &[f32], count: usize, allowed: &(dyn Fn(i64) -> bool + Sync)) -> Result<Nearest, StoreError> {
        let query = Unit::of("the question", query, self.layout.dimensions)?;
        let Some(view) = &self.view else { return Ok(Nearest::default()) };
        let threads = threads(view.rows());
        Ok(nearest(view, &query, &Wanted { count, candidates: FEWEST_CANDIDATES, threads }, allowed))
    }

    /// Returns the cosine of each of these documents' vectors to `query`, as far as they have one.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when `query` is no vector of this model.
    pub fn cosines(&self, query: &[f32], keys: &[i64]) -> Result<Vec<Option<f32>>, StoreError> {
        let query = Unit::of("the question", query, self.layout.dimensions)?;
        let Some(view) = &self.view else { return Ok(vec![None; keys.len()]) };
        let slots = view.slots(keys.iter().copied());
        let cosine = |key: &i64| Some(query.cosine(view.row(*slots.get(key)?)?.direction()?));
        Ok(keys.iter().map(cosine).collect())
    }

    /// Returns the cosine of the vectors of each two documents, as far as both have one for the texts with these hashes.
    pub fn cosines_between(&self, pairs: &[[(i64, ContentHash); 2]]) -> Vec<Option<f32>> {
        let Some(view) = &self.view else { return vec![None; pairs.len()] };
        let slots = view.slots(pairs.iter().flatten().map(|(key, _)| *key));
        let row = |(key, text): &(i64, ContentHash)| Some(view.row(*slots.get(key)?)?).filter(|row| row.text == *text);
        let cosine = |[one, other]: &[(i64, ContentHash); 2]| {
            let (one, other) = (row(one)?.direction()?, row(other)?.direction()?);
            Some(one.iter().zip(other).map(|(one, other)| one * other).sum())
        };
        pairs.iter().map(cosine).collect()
    }

    /// Returns the cosine of each document's vector to `query`, as far as it has one for the text with this hash.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when `query` is no vector of this model.
    pub fn cosines_of(&self, query: &[f32], documents: &[(i64, ContentHash)]) -> Result<Vec<Option<f32>>, StoreError> {
        let query = Unit::of("the question", query, self.layout.dimensions)?;
        let Some(view) = &self.view else { return Ok(vec![None; documents.len()]) };
        let slots = view.slots(documents.iter().map(|(key, _)| *key));
        let cosine = |(key, text): &(i64, ContentHash)| {
            let row = view.row(*slots.get(key)?)?;
            row.direction().filter(|_| row.text == *text).map(|direction| query.cosine(direction))
        };
        Ok(documents.iter().map(cosine).collect())
    }
}

/// How much to look for.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) count: usize,
    /// How many candidates to take at least.
    pub(super) candidates: usize,
    pub(super) threads: usize,
}

/// Looks for the nearest among all rows.
pub(super) fn nearest(view: &View, query: &Unit, wanted: &Wanted, allowed: &(dyn Fn(i64) -> bool + Sync)) -> Nearest {
    let codes = query.codes();
    let limit = wanted.count.saturating_mul(4).max(wanted.candidates).min(view.rows().max(1));
    let mut found = scan(view, &codes, limit, wanted.threads, allowed);
    let mut best = in_full(view, query, &found.candidates, wanted.count);
    if !is_proven(&best, wanted.count, found.others_at_most) {
        let limit = limit.saturating_mul(MORE).min(view.rows());
        found = scan(view, &codes, limit, wanted.threads, allowed);
        best = in_full(view, query, &found.candidates, wanted.count);
    }
    let (mean, deviation) = spread(&found);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count of rows")]
    let compared = found.rows as usize;
    Nearest { best, compared, mean, deviation }
}

/// Tells whether nothing that was left out can belong to the best.
fn is_proven(best: &[(i64, f32)], count: usize, others_at_most: Option<f32>) -> bool {
    let Some(others) = others_at_most else { return true };
    match count.checked_sub(1) {
        None => true,
        Some(last) => best.get(last).is_some_and(|(_, cosine)| others <= *cosine),
    }
}

/// Returns the `count` nearest of the candidates, which come with the most promising first, by their exact cosines.
fn in_full(view: &View, query: &Unit, candidates: &[Candidate], count: usize) -> Vec<(i64, f32)> {
    let mut best: Vec<(i64, f32)> = Vec::new();
    for candidate in candidates {
        let least = count.checked_sub(1).map_or(Some(f32::INFINITY), |last| best.get(last).map(|(_, cosine)| *cosine));
        // Each look costs a page of the file, so none is taken at what cannot be among the best.
        if least.is_some_and(|least| candidate.at_most < least) {
            break;
        }
        let Some(row) = view.row(candidate.slot) else { continue };
        let found = (row.key, query.cosine(row.exact));
        let place = best.partition_point(|other| nearer(other, &found).is_lt());
        best.insert(place, found);
        best.truncate(count);
    }
    best
}

/// Puts the nearer first, equals by key.
fn nearer(one: &(i64, f32), other: &(i64, f32)) -> Ordering {
    other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
}

/// Returns the mean of all cosines, and how much they deviate from it.
#[expect(clippy::cast_possible_truncation, reason = "both lie between -1.5 and 1.5")]
fn spread(found: &Scan) -> (f32, f32) {
    if found.rows < 1.0 {
        return (0.0, 0.0);
    }
    let mean = found.sum / found.rows;
    let variance = (found.squares / found.rows - mean * mean).max(0.0);
    (mean as f32, variance.sqrt() as f32)
}

/// Returns on how many threads to look at so many rows.
fn threads(rows: usize) -> usize {
    match rows / ROWS_PER_THREAD {
        // To ask how many cores there are takes longer than to look at some thousand rows.
        0 | 1 => 1,
        worth => worth.min(MOST_THREADS).min(thread::available_parallelism().map_or(1, usize::from)),
    }
}
