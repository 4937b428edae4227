//! The tie breaker for documents with equal scores.

use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;

use tantivy::columnar::Column;
use tantivy::{DocId, Searcher, SegmentReader};

use super::top_k::TopCandidate;
use crate::index::error::IndexError;
use crate::index::text::names;

/// Looks up the sort keys of documents with equal scores; columns are opened on first use.
pub(super) struct TieBreaker<'s> {
    searcher: &'s Searcher,
    columns: Vec<OnceCell<Option<TieColumns>>>,
    trouble: Cell<Option<IndexError>>,
}

/// The creation times of one segment's documents, and the halves of their ids.
struct TieColumns {
    created_at: Column<i64>,
    id: [Column<u64>; 2],
}

impl<'s> TieBreaker<'s> {
    pub(super) fn new(searcher: &'s Searcher) -> Self {
        let columns = searcher
            .segment_readers()
            .iter()
            .map(|_| OnceCell::new())
            .collect();
        Self {
            searcher,
            columns,
            trouble: Cell::new(None),
        }
    }

    /// Returns the sort key of a committed candidate.
    ///
    /// If a column cannot be read, returns a default key; `into_result` returns the error.
    pub(super) fn of(&self, candidate: &TopCandidate) -> (Reverse<i64>, u128) {
        let columns = self.columns[candidate.segment].get_or_init(|| {
            let columns = TieColumns::of(&self.searcher.segment_readers()[candidate.segment]);
            columns
                .map_err(|trouble| self.trouble.set(Some(trouble)))
                .ok()
        });
        columns.as_ref().map_or((Reverse(0), 0), |columns| {
            columns.sort_key(candidate.document)
        })
    }

    /// Returns the last error that a lookup caused, if any.
    pub(super) fn into_result(self) -> Result<(), IndexError> {
        self.trouble.into_inner().map_or(Ok(()), Err)
    }
}

impl TieColumns {
    fn of(segment: &SegmentReader) -> Result<Self, IndexError> {
        let fast = segment.fast_fields();
        let [high, low] = names::ID;
        Ok(Self {
            created_at: fast.i64(names::CREATED_AT)?,
            id: [fast.u64(high)?, fast.u64(low)?],
        })
    }

    fn sort_key(&self, document: DocId) -> (Reverse<i64>, u128) {
        let [high, low] = self
            .id
            .each_ref()
            .map(|half| u128::from(half.first(document).unwrap_or_default()));
        (
            Reverse(self.created_at.first(document).unwrap_or_default()),
            high << 64 | low,
        )
    }
}
