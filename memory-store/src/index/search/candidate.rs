//! A candidate document with its ranking features.

use std::collections::HashMap;

use memory_core::query_parser::{QueryWord, WordRole};
use memory_core::rank::{RankCandidate, TextProperties};

use super::pending_rows::PendingDocument;
use super::query_term::QueryTerm;
use super::turns::ConversationTurns;
use super::vector_matches::PassageMatch;
use crate::memory_file::time_from_nanos;

/// A candidate document, committed or pending, with its ranking features.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct SearchCandidate {
    pub(super) key: i64,
    pub(super) created_at: i64,
    pub(super) facts: TextProperties,
    pub(super) lengths: [u32; 2],
    /// The frequency of each query word in the document.
    pub(super) frequencies: Vec<u32>,
    /// For each query word that is absent, the similarity of the most similar word in the document.
    pub(super) likeness: Vec<f32>,
    /// Whether the speaker that the query names is the author.
    pub(super) is_named: bool,
    /// Whether the document matches the query.
    pub(super) matches: bool,
    /// Whether it matches only by words that contain a query word; such a document ranks after those with a query word.
    pub(super) is_part: bool,
    /// Whether the document passes the filter.
    pub(super) passes: bool,
}

/// Which words of a query a document contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordCoverage {
    /// All words.
    Whole,
    /// All words, some of them inside other words or as similar words.
    Inside,
    /// Some words, or none.
    Some,
}

impl SearchCandidate {
    /// Computes the ranking features of a pending document.
    pub(super) fn of(
        document: &PendingDocument,
        wanted: &[QueryTerm],
        named: Option<i64>,
        handles: &[i64],
    ) -> Self {
        let frequency = |wanted: &QueryTerm| -> u32 {
            wanted
                .exact
                .iter()
                .map(|term| document.frequency(term, wanted.part))
                .sum()
        };
        let frequencies: Vec<u32> = wanted.iter().map(frequency).collect();
        let like = |(wanted, frequency): (&QueryTerm, &u32)| {
            let has = |term: &str| *frequency == 0 && 0 < document.frequency(term, wanted.part);
            wanted
                .alike
                .iter()
                .filter(|(term, _)| has(term))
                .map(|(_, like)| *like)
                .fold(0.0, f32::max)
        };
        let likeness = wanted.iter().zip(&frequencies).map(like).collect();
        Self {
            key: document.key,
            created_at: document.created_at,
            facts: document.facts,
            lengths: document.lengths,
            frequencies,
            likeness,
            is_named: named.is_some_and(|named| document.filters.contains(&named)),
            matches: document.matches(wanted, handles),
            is_part: false,
            passes: document.passes,
        }
    }

    /// Returns whether the document contains a query word.
    pub(super) fn has_words(&self) -> bool {
        self.frequencies.iter().any(|frequency| 0 < *frequency)
    }

    /// Returns which words of the query the document contains, apart from the signs between them.
    pub(super) fn coverage(&self, asked: &[QueryWord]) -> WordCoverage {
        let words = || {
            let found = self.frequencies.iter().zip(&self.likeness);
            let all = found.zip(asked);
            all.filter(|(_, word)| word.role != WordRole::Aside)
                .map(|(found, _)| found)
        };
        if words().all(|(frequency, _)| 0 < *frequency) {
            WordCoverage::Whole
        } else if words().all(|(frequency, like)| 0 < *frequency || 0.0 < *like) {
            WordCoverage::Inside
        } else {
            WordCoverage::Some
        }
    }

    /// Returns the document as a candidate for ranking.
    pub(super) fn to_rank_candidate(
        &self,
        turns: &ConversationTurns,
        passages: &HashMap<i64, PassageMatch>,
    ) -> RankCandidate {
        RankCandidate {
            frequencies: self.frequencies.clone(),
            likeness: self.likeness.clone(),
            lengths: self.lengths,
            facts: self.facts,
            created_at: time_from_nanos(self.created_at),
            is_named: self.is_named,
            role: self
                .facts
                .role
                .or_else(|| turns.roles.get(&self.key).copied()),
            seat: turns.seats.get(&self.key).copied(),
            linked: Vec::new(),
            cosine: passages.get(&self.key).map(|best| best.similarity),
        }
    }
}
