//! Search in the committed segments of the full-text index.

mod words;

use memory_core::Scope;
use memory_core::rank::TextProperties;
use tantivy::postings::Postings;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, Term};

use super::candidate::SearchCandidate;
use super::document_set::DocumentSet;
use super::query_term::{QueryTerm, TermField};
use super::tie_breaker::TieBreaker;
use super::top_k::{TieKey, TopCandidate, TopK};
use super::vector_matches::KeySet;
use crate::index::error::IndexError;
use crate::index::filter::TextFilter;
use crate::index::lookup_key::LookupKey;
use crate::index::text::{TextFields, names};

/// Up to this number of terms, blocks of documents below the score threshold are skipped. With more terms, the selection of blocks takes
/// longer than the scores of all documents.
const MAX_PRUNED_TERMS: usize = 6;

/// A view of the committed segments, without the documents that are pending.
pub(super) struct SegmentsView<'s> {
    searcher: &'s Searcher,
    fields: TextFields,
    /// Whether a scope restriction hides documents.
    is_narrowed: bool,
    /// The visible documents of each segment.
    valid: Vec<DocumentSet>,
    /// The documents of each segment that pass the filter.
    passing: Vec<DocumentSet>,
    /// The documents of each segment that match the query.
    matching: Vec<DocumentSet>,
}

/// The segment and document number of a committed document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SegmentDocument {
    segment: usize,
    document: DocId,
}

impl SegmentDocument {
    /// Returns the address of a committed candidate.
    pub(super) fn of(candidate: &TopCandidate) -> Self {
        Self {
            segment: candidate.segment,
            document: candidate.document,
        }
    }
}

impl<'s> SegmentsView<'s> {
    /// Opens a view without the documents with the keys `pending`.
    ///
    /// If `within` is given, the view is restricted to these scopes.
    pub(super) fn new(
        searcher: &'s Searcher,
        fields: TextFields,
        pending: &[i64],
        within: Option<&[Scope]>,
    ) -> Result<Self, IndexError> {
        let segments = searcher.segment_readers();
        let mut valid: Vec<DocumentSet> = segments.iter().map(DocumentSet::alive).collect();
        for (segment, bits) in segments.iter().zip(&mut valid) {
            if pending.is_empty() {
                break;
            }
            // Keys are ascending: keys of new documents are above the range of every segment.
            let known = segment.fast_fields().u64(names::KEY)?;
            let known = known.min_value()..=known.max_value();
            for key in pending
                .iter()
                .map(|key| key.cast_unsigned())
                .filter(|key| known.contains(key))
            {
                if let Some(found) =
                    documents_with(segment, &Term::from_field_u64(fields.key, key))?
                {
                    bits.remove_all(&found);
                }
            }
        }
        let mut is_narrowed = false;
        if let Some(within) = within {
            let scope = |scope: &Scope| {
                Term::from_field_u64(
                    fields.filters,
                    LookupKey::Scope(scope).bits().cast_unsigned(),
                )
            };
            let mut scopes: Vec<Term> = within.iter().map(scope).collect();
            scopes.sort_unstable();
            scopes.dedup();
            for (segment, bits) in segments.iter().zip(&mut valid) {
                // A document belongs to one scope. If these scopes cover the whole segment, no document is hidden.
                if count_with_any(segment, &scopes)? < u64::from(segment.max_doc()) {
                    bits.intersect(&documents_with_any(segment, &scopes)?);
                    is_narrowed = true;
                }
            }
        }
        let matching = segments
            .iter()
            .map(|segment| DocumentSet::empty(segment.max_doc()))
            .collect();
        let passing = valid.clone();
        Ok(Self {
            searcher,
            fields,
            is_narrowed,
            valid,
            passing,
            matching,
        })
    }

    /// Marks the visible documents that contain one of the `wanted` terms as matching.
    pub(super) fn match_any(&mut self, wanted: &[QueryTerm]) -> Result<(), IndexError> {
        let terms: Vec<Term> = wanted
            .iter()
            .flat_map(|one| one.matching_terms().map(|text| self.term(text, one.part)))
            .collect();
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let mut bits = documents_with_any(segment, &terms)?;
            bits.intersect(&self.valid[number]);
            self.matching[number].extend(&bits);
        }
        Ok(())
    }

    /// Marks the visible documents that have one of `handles` as matching.
    pub(super) fn match_handles(&mut self, handles: &[i64]) -> Result<(), IndexError> {
        let terms = self.handle_terms(handles);
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let mut bits = documents_with_any(segment, &terms)?;
            bits.intersect(&self.valid[number]);
            self.matching[number].extend(&bits);
        }
        Ok(())
    }

    /// Restricts passing and matching documents to those with or without the term, as `is_wanted` selects.
    pub(super) fn require(
        &mut self,
        text: &str,
        part: TermField,
        is_wanted: bool,
    ) -> Result<(), IndexError> {
        let term = self.term(text, part);
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let bits = documents_with_any(segment, std::slice::from_ref(&term))?;
            for own in [&mut self.passing[number], &mut self.matching[number]] {
                if is_wanted {
                    own.intersect(&bits);
                } else {
                    own.remove_all(&bits);
                }
            }
        }
        Ok(())
    }

    /// Returns the number of visible documents.
    pub(super) fn visible_count(&self) -> u64 {
        self.valid.iter().map(DocumentSet::count).sum()
    }

    /// Returns the total lengths of the text and character fields of the visible documents, each rounded as in the full-text index.
    pub(super) fn visible_lengths(&self) -> Result<[u64; 2], IndexError> {
        let mut sums = [0, 0];
        for (segment, valid) in self.searcher.segment_readers().iter().zip(&self.valid) {
            for (sum, field) in sums
                .iter_mut()
                .zip([self.fields.text, self.fields.characters])
            {
                let lengths = segment.get_fieldnorms_reader(field)?;
                *sum += valid
                    .documents()
                    .map(|document| u64::from(lengths.fieldnorm(document)))
                    .sum::<u64>();
            }
        }
        Ok(sums)
    }

    /// Leaves out the documents that have ended by `moment`: they are not found, and are no evidence of how frequent a word is.
    pub(super) fn leave_out_ended(&mut self, moment: i64) -> Result<(), IndexError> {
        let ends =
            Term::from_field_u64(self.fields.filters, LookupKey::Ends.bits().cast_unsigned());
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            if let Some(mut ended) = documents_with(segment, &ends)? {
                let holds_until = segment.fast_fields().i64(names::HOLDS_UNTIL)?;
                ended
                    .filter(|document| holds_until.first(document).is_none_or(|end| end <= moment));
                self.passing[number].remove_all(&ended);
                self.valid[number].remove_all(&ended);
            }
        }
        Ok(())
    }

    /// Restricts passing and matching documents to those that pass the filter, apart from its lifetime.
    pub(super) fn filter(&mut self, filter: &TextFilter) -> Result<(), IndexError> {
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let passing = &mut self.passing[number];
            for wanted in &filter.bits {
                match documents_with(
                    segment,
                    &Term::from_field_u64(self.fields.filters, wanted.cast_unsigned()),
                )? {
                    Some(with) => passing.intersect(&with),
                    None => *passing = DocumentSet::empty(segment.max_doc()),
                }
            }
            let proposals = Term::from_field_u64(
                self.fields.filters,
                LookupKey::Proposal.bits().cast_unsigned(),
            );
            if filter.excludes_proposals
                && let Some(proposals) = documents_with(segment, &proposals)?
            {
                passing.remove_all(&proposals);
            }
            if filter.from.is_some() || filter.until.is_some() {
                let created_at = segment.fast_fields().i64(names::CREATED_AT)?;
                passing.filter(|document| {
                    let created_at = created_at.first(document).unwrap_or_default();
                    filter.from.is_none_or(|from| from <= created_at)
                        && filter.until.is_none_or(|until| created_at < until)
                });
            }
            self.matching[number].intersect(passing);
        }
        Ok(())
    }

    /// Restricts passing and matching documents to those in `documents`, or to the others, as `is_wanted` selects.
    pub(super) fn restrict_to(&mut self, documents: &[DocumentSet], is_wanted: bool) {
        for (number, documents) in documents.iter().enumerate() {
            for own in [&mut self.passing[number], &mut self.matching[number]] {
                if is_wanted {
                    own.intersect(documents);
                } else {
                    own.remove_all(documents);
                }
            }
        }
    }

    /// Returns the number of matching documents.
    pub(super) fn matching_count(&self) -> u64 {
        self.matching.iter().map(DocumentSet::count).sum()
    }

    /// Returns the matching documents of each segment by the number of `words` that they contain: the set with index `n` has those
    /// with more than `n` words. There is at least one set. A document with one of `handles` counts as having all words.
    pub(super) fn coverage(
        &self,
        words: &[&QueryTerm],
        handles: &[i64],
    ) -> Result<Vec<Vec<DocumentSet>>, IndexError> {
        let handles = self.handle_terms(handles);
        let mut all = Vec::with_capacity(self.matching.len());
        for (segment, matching) in self.searcher.segment_readers().iter().zip(&self.matching) {
            let mut named = documents_with_any(segment, &handles)?;
            named.intersect(matching);
            let mut levels: Vec<DocumentSet> = Vec::with_capacity(words.len());
            for word in words {
                let terms: Vec<Term> = word
                    .matching_terms()
                    .map(|text| self.term(text, word.part))
                    .collect();
                let mut with = documents_with_any(segment, &terms)?;
                with.intersect(matching);
                with.extend(&named);
                for level in &mut levels {
                    let mut with_more = level.clone();
                    with_more.intersect(&with);
                    level.extend(&with);
                    with = with_more;
                }
                levels.push(with);
            }
            if levels.is_empty() {
                levels.push(DocumentSet::empty(segment.max_doc()));
            }
            all.push(levels);
        }
        Ok(all)
    }

    /// Adds the keys of all matching documents to `keys`.
    pub(super) fn collect_matching_keys(&self, keys: &mut Vec<i64>) -> Result<(), IndexError> {
        for (segment, matching) in self.searcher.segment_readers().iter().zip(&self.matching) {
            let own = segment.fast_fields().u64(names::KEY)?;
            keys.extend(
                matching
                    .documents()
                    .filter_map(|document| own.first(document))
                    .map(u64::cast_signed),
            );
        }
        Ok(())
    }

    /// Returns the number of matching documents with an attribute, for each of `handles`.
    pub(super) fn count_handles(&self, handles: &[i64]) -> Result<Vec<u64>, IndexError> {
        let terms = self.handle_terms(handles);
        let mut counts = vec![0; terms.len()];
        for (segment, matching) in self.searcher.segment_readers().iter().zip(&self.matching) {
            if matching.count() == 0 {
                continue;
            }
            let inverted = segment.inverted_index(self.fields.filters)?;
            for (term, count) in terms.iter().zip(&mut counts) {
                if let Some(postings) =
                    inverted.read_block_postings(term, IndexRecordOption::Basic)?
                {
                    *count += matching.count_in(postings);
                }
            }
        }
        Ok(counts)
    }

    /// Calls `each` with the time of creation of every matching document.
    pub(super) fn each_creation_time(&self, each: &mut dyn FnMut(i64)) -> Result<(), IndexError> {
        for (segment, matching) in self.searcher.segment_readers().iter().zip(&self.matching) {
            let created_at = segment.fast_fields().i64(names::CREATED_AT)?;
            matching
                .documents()
                .filter_map(|document| created_at.first(document))
                .for_each(&mut *each);
        }
        Ok(())
    }

    /// Adds the keys of all passing documents to `keys`.
    pub(super) fn collect_passing_keys(&self, keys: &mut KeySet) -> Result<(), IndexError> {
        for (segment, passing) in self.searcher.segment_readers().iter().zip(&self.passing) {
            let own = segment.fast_fields().u64(names::KEY)?;
            passing
                .documents()
                .filter_map(|document| own.first(document))
                .for_each(|key| keys.insert(key.cast_signed()));
        }
        Ok(())
    }

    /// Returns the addresses of all matching documents.
    pub(super) fn matching_documents(&self) -> Vec<SegmentDocument> {
        let of = |(segment, bits): (usize, &DocumentSet)| {
            bits.documents()
                .map(move |document| SegmentDocument { segment, document })
                .collect::<Vec<_>>()
        };
        self.matching.iter().enumerate().flat_map(of).collect()
    }

    /// Offers the matching documents to `best`, scored by BM25.
    ///
    /// If `handles` is not empty, only documents with one of the handles are offered.
    pub(super) fn collect_best(
        &self,
        terms: &[Term],
        statistics: &dyn Bm25StatisticsProvider,
        handles: &[i64],
        best: &mut TopK,
        tie: TieKey<'_>,
    ) -> Result<(), IndexError> {
        let handles = self.handle_terms(handles);
        let weight = any_term_query(terms).weight(
            EnableScoring::enabled_from_statistics_provider(statistics, self.searcher),
        )?;
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let mut narrowed = None;
            if !handles.is_empty() {
                let mut bits = documents_with_any(segment, &handles)?;
                bits.intersect(&self.matching[number]);
                narrowed = Some(bits);
            }
            let matching = narrowed.as_ref().unwrap_or(&self.matching[number]);
            if matching.count() == 0 {
                continue;
            }
            // A document that fails the filter must not displace one that passes.
            let threshold = best.threshold();
            let mut offer = |document, score| {
                if matching.contains(document) && best.threshold() < score {
                    best.push(
                        TopCandidate {
                            score,
                            segment: number,
                            document,
                        },
                        tie,
                    );
                }
                best.threshold()
            };
            if terms.len() <= MAX_PRUNED_TERMS {
                weight.for_each_pruning(threshold, segment, &mut offer)?;
            } else {
                weight.for_each(segment, &mut |document, score| {
                    offer(document, score);
                })?;
            }
        }
        Ok(())
    }

    /// Returns the documents that pass and contain a `wanted` term, but are not marked as matching.
    pub(super) fn passing_unmatched(
        &self,
        wanted: &[QueryTerm],
    ) -> Result<Vec<SegmentDocument>, IndexError> {
        let terms: Vec<Term> = wanted
            .iter()
            .flat_map(|one| one.matching_terms().map(|text| self.term(text, one.part)))
            .collect();
        let mut all = Vec::new();
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let mut bits = documents_with_any(segment, &terms)?;
            bits.intersect(&self.passing[number]);
            bits.remove_all(&self.matching[number]);
            all.extend(bits.documents().map(|document| SegmentDocument {
                segment: number,
                document,
            }));
        }
        Ok(all)
    }

    /// Returns the `most` newest of the documents at `addresses`.
    pub(super) fn newest(
        &self,
        addresses: Vec<SegmentDocument>,
        most: usize,
    ) -> Result<Vec<SegmentDocument>, IndexError> {
        if addresses.len() <= most {
            return Ok(addresses);
        }
        let ties = self.tie_breaker();
        let tie = |SegmentDocument { segment, document }: &SegmentDocument| {
            ties.of(&TopCandidate {
                score: 0.0,
                segment: *segment,
                document: *document,
            })
        };
        let mut newest: Vec<_> = addresses
            .into_iter()
            .map(|address| (tie(&address), address))
            .collect();
        newest.sort_unstable();
        newest.truncate(most);
        ties.into_result()?;
        Ok(newest.into_iter().map(|(_, address)| address).collect())
    }

    /// Returns the tie breaker for documents with equal scores.
    pub(super) fn tie_breaker(&self) -> TieBreaker<'s> {
        TieBreaker::new(self.searcher)
    }

    /// Returns the addresses of the visible documents with these keys; other keys are ignored.
    pub(super) fn with_keys(&self, keys: &[i64]) -> Result<Vec<SegmentDocument>, IndexError> {
        let mut found = Vec::with_capacity(keys.len());
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let inverted = segment.inverted_index(self.fields.key)?;
            for key in keys {
                let term = Term::from_field_u64(self.fields.key, key.cast_unsigned());
                let Some(postings) = inverted.read_postings(&term, IndexRecordOption::Basic)?
                else {
                    continue;
                };
                if self.valid[number].contains_checked(postings.doc()) {
                    found.push(SegmentDocument {
                        segment: number,
                        document: postings.doc(),
                    });
                }
            }
        }
        Ok(found)
    }

    /// Loads the ranking features of the documents at `addresses`.
    ///
    /// `named` is the handle of the speaker that the query names.
    pub(super) fn load_features(
        &self,
        mut addresses: Vec<SegmentDocument>,
        wanted: &[QueryTerm],
        named: Option<i64>,
    ) -> Result<Vec<SearchCandidate>, IndexError> {
        addresses.sort_unstable();
        addresses.dedup();
        let mut all = Vec::with_capacity(addresses.len());
        for group in addresses.chunk_by(|left, right| left.segment == right.segment) {
            let number = group[0].segment;
            let segment = &self.searcher.segment_readers()[number];
            let fast = segment.fast_fields();
            let (keys, facts, created_at) = (
                fast.u64(names::KEY)?,
                fast.u64(names::FACTS)?,
                fast.i64(names::CREATED_AT)?,
            );
            let text = segment.get_fieldnorms_reader(self.fields.text)?;
            let characters = segment.get_fieldnorms_reader(self.fields.characters)?;
            let first = all.len();
            for SegmentDocument { document, .. } in group {
                all.push(SearchCandidate {
                    key: keys.first(*document).unwrap_or_default().cast_signed(),
                    created_at: created_at.first(*document).unwrap_or_default(),
                    facts: TextProperties::from_bits(facts.first(*document).unwrap_or_default()),
                    lengths: [text.fieldnorm(*document), characters.fieldnorm(*document)],
                    frequencies: vec![0; wanted.len()],
                    likeness: vec![0.0; wanted.len()],
                    is_named: false,
                    matches: self.matching[number].contains(*document),
                    is_part: false,
                    passes: self.passing[number].contains(*document),
                });
            }
            let found = &mut all[first..];
            for (index, wanted) in wanted.iter().enumerate() {
                for text in &wanted.exact {
                    let term = self.term(text, wanted.part);
                    each_frequency(segment, &term, group, &mut |place, frequency| {
                        found[place].frequencies[index] += frequency;
                    })?;
                }
                for (text, like) in &wanted.alike {
                    let term = self.term(text, wanted.part);
                    each_frequency(segment, &term, group, &mut |place, _| {
                        let found = &mut found[place];
                        if found.frequencies[index] == 0 {
                            found.likeness[index] = found.likeness[index].max(*like);
                        }
                    })?;
                }
            }
            if let Some(named) = named {
                let term = Term::from_field_u64(self.fields.filters, named.cast_unsigned());
                each_frequency(segment, &term, group, &mut |place, _| {
                    found[place].is_named = true;
                })?;
            }
        }
        Ok(all)
    }

    /// Returns whether a document has this handle.
    ///
    /// With a scope restriction, only visible documents count. Otherwise deleted and pending documents also count.
    pub(super) fn has_handle(&self, bits: i64) -> Result<bool, IndexError> {
        let term = Term::from_field_u64(self.fields.filters, bits.cast_unsigned());
        for (segment, valid) in self.searcher.segment_readers().iter().zip(&self.valid) {
            if segment
                .inverted_index(self.fields.filters)?
                .doc_freq(&term)?
                == 0
            {
                continue;
            }
            if !self.is_narrowed {
                return Ok(true);
            }
            let mut bits = documents_with_any(segment, std::slice::from_ref(&term))?;
            bits.intersect(valid);
            if 0 < bits.count() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn term(&self, text: &str, part: TermField) -> Term {
        Term::from_field_text(self.field(part), text)
    }

    fn handle_terms(&self, handles: &[i64]) -> Vec<Term> {
        handles
            .iter()
            .map(|bits| Term::from_field_u64(self.fields.filters, bits.cast_unsigned()))
            .collect()
    }

    pub(super) fn field(&self, part: TermField) -> Field {
        match part {
            TermField::Text => self.fields.text,
            TermField::Characters => self.fields.characters,
            TermField::Spelled => self.fields.spelled,
        }
    }
}

/// Calls `each` for every document of `group` that contains `term`.
///
/// The arguments are the index in `group` and the term frequency.
fn each_frequency(
    segment: &SegmentReader,
    term: &Term,
    group: &[SegmentDocument],
    each: &mut dyn FnMut(usize, u32),
) -> Result<(), IndexError> {
    let inverted = segment.inverted_index(term.field())?;
    let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::WithFreqs)? else {
        return Ok(());
    };
    for (place, SegmentDocument { document, .. }) in group.iter().enumerate() {
        if postings.doc() < *document {
            postings.seek(*document);
        }
        if postings.doc() == *document {
            each(place, postings.term_freq());
        }
    }
    Ok(())
}

/// Returns a query that matches any of the terms.
///
/// It consists of plain term queries, because only those can skip blocks of documents below the score threshold.
fn any_term_query(terms: &[Term]) -> Box<dyn Query> {
    let term = |term: &Term| {
        Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs)) as Box<dyn Query>
    };
    match terms {
        [only] => term(only),
        several => Box::new(BooleanQuery::new(
            several
                .iter()
                .map(|own| (Occur::Should, term(own)))
                .collect(),
        )),
    }
}

/// Returns the documents that have one of the terms.
fn documents_with_any(segment: &SegmentReader, terms: &[Term]) -> Result<DocumentSet, IndexError> {
    let mut bits = DocumentSet::empty(segment.max_doc());
    for term in terms {
        let inverted = segment.inverted_index(term.field())?;
        if let Some(found) = inverted.read_block_postings(term, IndexRecordOption::Basic)? {
            bits.insert_all(found);
        }
    }
    Ok(bits)
}

/// Returns the number of documents with one of the terms, including deleted documents.
///
/// The count is exact only if each document has at most one of the terms.
fn count_with_any(segment: &SegmentReader, terms: &[Term]) -> Result<u64, IndexError> {
    let mut count = 0;
    for term in terms {
        count += u64::from(segment.inverted_index(term.field())?.doc_freq(term)?);
    }
    Ok(count)
}

fn documents_with(segment: &SegmentReader, term: &Term) -> Result<Option<DocumentSet>, IndexError> {
    let inverted = segment.inverted_index(term.field())?;
    let found = inverted.read_block_postings(term, IndexRecordOption::Basic)?;
    Ok(found.map(|postings| {
        let mut bits = DocumentSet::empty(segment.max_doc());
        bits.insert_all(postings);
        bits
    }))
}
