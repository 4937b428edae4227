//! Preselection of candidates by BM25 if more documents match than can be ranked.

use std::cmp::Reverse;
use std::collections::HashMap;

use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;

use super::pending_rows::PendingDocument;
use super::query_term::{QueryTerm, TermField};
use super::segments::{SegmentDocument, SegmentsView};
use super::top_k::{TopCandidate, TopK};
use crate::index::error::IndexError;

/// The usual parameters `k1` and `b` of BM25, which tantivy uses as well.
const SATURATION: f32 = 1.2;
const LENGTH_WEIGHT: f32 = 0.75;

/// Segment number that marks a pending document.
const PENDING_SEGMENT: usize = usize::MAX;

/// Selects the best matching documents by BM25 over committed and pending documents.
///
/// Both use the same statistics, so the selection does not depend on where a document is stored or how often the index was rebuilt.
pub(super) struct Preselection<'p> {
    flushed: &'p SegmentsView<'p>,
    /// The pending documents that match.
    pending: &'p [&'p PendingDocument],
    terms: Vec<CountedTerm<'p>>,
    statistics: TermStatistics,
}

/// A query term with its document count.
struct CountedTerm<'p> {
    text: &'p str,
    part: TermField,
    documents: u64,
}

/// Corpus statistics of the query terms.
struct TermStatistics {
    documents: u64,
    /// The total lengths of the text and character fields.
    lengths: [u64; 2],
    fields: [Field; 2],
    with_term: HashMap<Term, u64>,
}

impl<'p> Preselection<'p> {
    /// Collects the statistics of the `wanted` terms.
    ///
    /// `documents` and `lengths` are the totals of the corpus; `pending` holds the pending documents that match.
    pub(super) fn new(
        flushed: &'p SegmentsView<'p>,
        (all_pending, pending): (&[PendingDocument], &'p [&'p PendingDocument]),
        wanted: &'p [QueryTerm],
        documents: u64,
        lengths: [u64; 2],
    ) -> Result<Self, IndexError> {
        let mut terms = Vec::new();
        let mut with_term = HashMap::new();
        for (text, part) in wanted
            .iter()
            .flat_map(|one| one.matching_terms().map(|text| (text, one.part)))
        {
            let among_pending = all_pending
                .iter()
                .filter(|own| 0 < own.frequency(text, part))
                .count() as u64;
            let own = (flushed.count(text, part)? + among_pending).min(documents);
            with_term.insert(flushed.term(text, part), own);
            terms.push(CountedTerm {
                text,
                part,
                documents: own,
            });
        }
        let fields = [
            flushed.field(TermField::Text),
            flushed.field(TermField::Characters),
        ];
        Ok(Self {
            flushed,
            pending,
            terms,
            statistics: TermStatistics {
                documents,
                lengths,
                fields,
                with_term,
            },
        })
    }

    /// Returns the addresses of the best committed documents, and the best pending documents.
    ///
    /// Together they are the best `limit` documents and those that tie with the last of them. If `handles` is not empty, only documents
    /// with one of the handles count.
    pub(super) fn best(
        &self,
        handles: &[i64],
        limit: usize,
    ) -> Result<(Vec<SegmentDocument>, Vec<&'p PendingDocument>), IndexError> {
        let ties = self.flushed.tie_breaker();
        let tie = |candidate: &TopCandidate| match candidate.segment {
            PENDING_SEGMENT => (
                Reverse(self.pending[candidate.document as usize].created_at),
                self.pending[candidate.document as usize].id,
            ),
            _ => ties.of(candidate),
        };
        let mut best = TopK::new(limit);
        for (document, own) in (0..).zip(self.pending) {
            let is_named =
                handles.is_empty() || handles.iter().any(|bits| own.filters.contains(bits));
            let score = self.score(own);
            if is_named && 0.0 < score && best.threshold() < score {
                best.push(
                    TopCandidate {
                        score,
                        segment: PENDING_SEGMENT,
                        document,
                    },
                    &tie,
                );
            }
        }
        let terms: Vec<Term> = self
            .terms
            .iter()
            .map(|sought| self.flushed.term(sought.text, sought.part))
            .collect();
        self.flushed
            .collect_best(&terms, &self.statistics, handles, &mut best, &tie)?;
        let (pending, flushed): (Vec<TopCandidate>, Vec<TopCandidate>) = best
            .into_candidates(&tie)
            .into_iter()
            .partition(|candidate| candidate.segment == PENDING_SEGMENT);
        ties.into_result()?;
        let pending = pending
            .into_iter()
            .map(|candidate| self.pending[candidate.document as usize]);
        Ok((
            flushed.iter().map(SegmentDocument::of).collect(),
            pending.collect(),
        ))
    }

    /// Returns the BM25 score that tantivy would compute if the document were committed.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a score needs no more than seven digits"
    )]
    fn score(&self, document: &PendingDocument) -> f32 {
        let TermStatistics {
            documents, lengths, ..
        } = self.statistics;
        let of = |CountedTerm {
                      text,
                      part,
                      documents: own,
                  }: &CountedTerm<'_>| {
            let frequency = document.frequency(text, *part) as f32;
            let idf = (1.0 + ((documents - own) as f32 + 0.5) / (*own as f32 + 0.5)).ln();
            let average = lengths[part.length_index()] as f32 / documents as f32;
            // A field without norms has length 1 in tantivy.
            let length = if *part == TermField::Spelled {
                1
            } else {
                document.lengths[part.length_index()]
            };
            let length = length as f32 / average;
            idf * (1.0 + SATURATION) * frequency
                / (frequency + SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length))
        };
        self.terms
            .iter()
            .filter(|sought| 0 < document.frequency(sought.text, sought.part))
            .map(of)
            .sum()
    }
}

impl Bm25StatisticsProvider for TermStatistics {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(self.lengths[usize::from(field == self.fields[1])])
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.with_term.get(term).copied().unwrap_or_default())
    }
}
