//! The best matches of a question as a set, without a rank.

use chrono::{DateTime, Utc};
use memory_core::query_parser::TextQuery;
use memory_core::{Filter, MatchCoverage, Ranking, SearchRequest};
use rusqlite::Connection;

use super::gather::{MatchSets, limit_to_scope, open_searcher};
use super::segments::SegmentsView;
use crate::index::error::IndexError;
use crate::index::schema::IndexMeta;
use crate::index::text::FullText;

/// The best matches of a question by words, as [`MatchCoverage::Best`] defines them.
pub(in crate::index) struct BestMatches<'s> {
    flushed: SegmentsView<'s>,
    /// The keys of the documents that are not yet in the full text.
    pub(in crate::index) pending: Vec<i64>,
}

impl BestMatches<'_> {
    /// Calls `read` with the matches that pass `filter`. The rows must come from one snapshot.
    pub(in crate::index) fn find<T>(
        rows: &Connection,
        text: &FullText,
        epoch: i64,
        (question, filter): (&TextQuery, &Filter),
        now: DateTime<Utc>,
        read: impl FnOnce(&BestMatches<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let meta = IndexMeta::read(rows)?;
        let filter = limit_to_scope(filter);
        let ranking = Ranking {
            coverage: MatchCoverage::Best,
            ..Ranking::default()
        };
        let asked = SearchRequest {
            question,
            filter: &filter,
            limit: 0,
            ranking,
            vector: None,
        };
        let searcher = open_searcher(text, epoch, &meta)?;
        let sets = MatchSets::new(rows, &searcher, text.fields, &asked, false, now)?;
        let pending = sets.pending_keys(question).collect();
        read(&BestMatches {
            flushed: sets.flushed,
            pending,
        })
    }

    /// Returns the number of matches in the full text.
    pub(in crate::index) fn flushed_count(&self) -> u64 {
        self.flushed.matching_count()
    }

    /// Returns the keys of all matches, in no order.
    pub(in crate::index) fn keys(&self) -> Result<Vec<i64>, IndexError> {
        let mut keys = self.pending.clone();
        self.flushed.collect_matching_keys(&mut keys)?;
        Ok(keys)
    }

    /// Returns the number of matches in the full text with each of the attributes `bits`.
    pub(in crate::index) fn count_flushed(&self, bits: &[i64]) -> Result<Vec<u64>, IndexError> {
        self.flushed.count_handles(bits)
    }

    /// Calls `each` with the time of creation of every match in the full text.
    pub(in crate::index) fn each_creation_time(
        &self,
        each: &mut dyn FnMut(i64),
    ) -> Result<(), IndexError> {
        self.flushed.each_creation_time(each)
    }
}
