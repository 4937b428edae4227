//! The matches that contain most of the words of a query.

use std::collections::HashSet;

use memory_core::query_parser::WordRole;

use super::document_set::DocumentSet;
use super::pending_rows::PendingDocument;
use super::query_names::QueryNames;
use super::query_term::{QueryTerm, TermConstraints};
use super::segments::SegmentsView;
use crate::index::error::IndexError;

/// Maximum number of words that are counted; later words of a long query are ignored.
const MAX_WORDS: usize = 32;

/// The matches that contain as many content words of the query as the one that contains most.
pub(super) struct BestCoverage {
    /// The committed documents by segment.
    pub(super) flushed: Vec<DocumentSet>,
    /// The keys of the pending documents.
    pub(super) pending: HashSet<i64>,
}

impl BestCoverage {
    /// Finds the documents among the matches that pass the filter.
    ///
    /// A document that matches by its author or its date counts as having all words. Documents without a content word are left out.
    pub(super) fn of(
        flushed: &SegmentsView<'_>,
        pending: &[PendingDocument],
        wanted: &[QueryTerm],
        named: &QueryNames,
        excluded: &TermConstraints<'_>,
    ) -> Result<Self, IndexError> {
        let words = named
            .question
            .words
            .iter()
            .zip(wanted)
            .filter(|(word, _)| word.role == WordRole::Content);
        let words: Vec<&QueryTerm> = words.map(|(_, wanted)| wanted).take(MAX_WORDS).collect();
        let levels = flushed.coverage(&words, &named.handles)?;
        let count = |document: &PendingDocument| match () {
            () if named
                .handles
                .iter()
                .any(|bits| document.filters.contains(bits)) =>
            {
                words.len()
            }
            () => words.iter().filter(|word| document.contains(word)).count(),
        };
        let passing = pending
            .iter()
            .filter(|document| document.passes && excluded.allows(document));
        let counts: Vec<(i64, usize)> = passing
            .map(|document| (document.key, count(document)))
            .collect();
        let best_of =
            |levels: &Vec<DocumentSet>| levels.iter().filter(|level| 0 < level.count()).count();
        let best = levels
            .iter()
            .map(best_of)
            .chain(counts.iter().map(|(_, count)| *count))
            .max()
            .unwrap_or_default();
        let pending = counts
            .into_iter()
            .filter(|(_, count)| 0 < best && *count == best)
            .map(|(key, _)| key)
            .collect();
        // Without a document that contains a word, all sets are empty.
        let flushed = levels
            .into_iter()
            .map(|mut levels| levels.swap_remove(best.saturating_sub(1)))
            .collect();
        Ok(Self { flushed, pending })
    }
}
