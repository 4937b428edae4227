//! Finds the documents with the vectors nearest to a query.

use std::ops::Range;
use std::thread;

use memory_core::{ContentHash, StoreError};

use super::layout::VectorRow;
use super::open::ModelVectors;
use super::quantized_vector::{QuantizedVector, cosine};
use super::scan::{VectorScan, scan};
use super::view::RowsView;

/// Number of rows that justify a thread.
const ROWS_PER_THREAD: usize = 16_384;

/// Maximum number of threads: more do not increase the memory bandwidth.
const MAX_THREADS: usize = 8;

/// Number of further candidates, which replace those with a damaged row.
const SPARE_CANDIDATES: usize = 64;

/// The documents nearest to a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NearestVectors {
    /// The keys and cosine similarities, the nearest first, ties by key.
    pub best: Vec<(i64, f32)>,
    /// Number of vectors that are not zero, allowed or not.
    pub compared: usize,
    /// The mean of their cosine similarities.
    pub mean: f32,
    /// The standard deviation of their cosine similarities.
    pub deviation: f32,
}

impl ModelVectors {
    /// Returns the `count` allowed documents with the vectors nearest to `query`, each by its best passage.
    ///
    /// The search is exhaustive: it compares every vector, all rounded to 8 bits.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if `query` is not a valid vector of this model.
    pub fn nearest(
        &self,
        query: &[f32],
        count: usize,
        allowed: &(dyn Fn(i64) -> bool + Sync),
    ) -> Result<NearestVectors, StoreError> {
        let query = self.quantize_query(query)?;
        let Some(view) = &self.view else {
            return Ok(NearestVectors::default());
        };
        let threads = thread_count(view.rows());
        Ok(nearest(view, &query, count, threads, allowed))
    }

    /// Returns the cosine similarity of the best passage of each document to `query`, and the number of this passage from 0.
    ///
    /// It is `None` unless the document has vectors for the text with the given hash.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if `query` is not a valid vector of this model.
    pub fn cosines_of(
        &self,
        query: &[f32],
        documents: &[(i64, ContentHash)],
    ) -> Result<Vec<Option<(f32, usize)>>, StoreError> {
        let query = self.quantize_query(query)?;
        let Some(view) = &self.view else {
            return Ok(vec![None; documents.len()]);
        };
        let live = view.slots_of(documents.iter().map(|(key, _)| *key));
        let document = |(key, text): &(i64, ContentHash)| {
            let slots = live.get(key)?;
            let passages = view.current_document(slots, text)?;
            let best = nearest_passage((query.scale, &query.codes), &passages)?;
            // Another process may have erased the rows meanwhile.
            view.current_document(slots, text).map(|_| best)
        };
        Ok(documents.iter().map(document).collect())
    }

    fn quantize_query(&self, query: &[f32]) -> Result<QuantizedVector, StoreError> {
        QuantizedVector::of("the query", query, self.layout.dimensions)
    }
}

impl RowsView {
    /// Returns the rows of a document, unless one is damaged or they have the vectors of another text.
    fn current_document(
        &self,
        slots: &Range<usize>,
        text: &ContentHash,
    ) -> Option<Vec<VectorRow<'_>>> {
        self.document(slots).filter(|rows| rows[0].text == *text)
    }
}

/// Returns the largest cosine of a vector and one of the passages, and the number of this passage.
fn nearest_passage(vector: (f32, &[i8]), passages: &[VectorRow<'_>]) -> Option<(f32, usize)> {
    let cosines = passages
        .iter()
        .enumerate()
        .filter_map(|(number, row)| Some((cosine(vector, row.vector())?, number)));
    cosines.reduce(|best, next| if best.0 < next.0 { next } else { best })
}

/// Finds the nearest among all rows.
pub(super) fn nearest(
    view: &RowsView,
    query: &QuantizedVector,
    count: usize,
    threads: usize,
    allowed: &(dyn Fn(i64) -> bool + Sync),
) -> NearestVectors {
    let limit = count
        .saturating_add(SPARE_CANDIDATES)
        .min(view.rows().max(1));
    let found = scan(view, query, limit, threads, allowed);
    let (mean, deviation) = spread(&found);
    let mut best: Vec<(i64, f32)> = found
        .nearest
        .iter()
        .filter(|near| view.row(near.slot).is_some())
        .map(|near| (near.key, near.cosine.clamp(-1.0, 1.0)))
        .take(count)
        .collect();
    best.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
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
