//! The full text.

use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::collections::HashMap;

use tantivy::columnar::Column;
use tantivy::postings::Postings;
use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, Term};

use super::best::{Best, Candidate};
use super::bits::Bits;
use super::wanted::{Part, Wanted};
use crate::index::filter::TextFilter;
use crate::index::handle::Handle;
use crate::index::text::{Fields, names};
use crate::index::trouble::Trouble;

/// The full text, without the documents that are pending.
pub(super) struct Flushed<'s> {
    searcher: &'s Searcher,
    fields: Fields,
    /// For each segment, the documents that count.
    valid: Vec<Bits>,
    /// For each segment, the documents that have a term that was counted.
    matching: Vec<Bits>,
}

/// A document of the full text that answers.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) key: i64,
    pub(super) frequencies: Vec<u32>,
    pub(super) lengths: [u32; 2],
}

impl<'s> Flushed<'s> {
    /// Sees everything but the documents with the keys `pending`.
    pub(super) fn new(searcher: &'s Searcher, fields: Fields, pending: &[i64]) -> Result<Self, Trouble> {
        let segments = searcher.segment_readers();
        let mut valid: Vec<Bits> = segments.iter().map(Bits::alive).collect();
        for (segment, bits) in segments.iter().zip(&mut valid) {
            if pending.is_empty() {
                break;
            }
            // Keys grow: those of new documents are beyond what any segment has.
            let known = segment.fast_fields().u64(names::KEY)?;
            let known = known.min_value()..=known.max_value();
            for key in pending.iter().map(|key| key.cast_unsigned()).filter(|key| known.contains(key)) {
                if let Some(found) = postings(segment, &Term::from_field_u64(fields.key, key))? {
                    bits.remove_all(&found);
                }
            }
        }
        let matching = segments.iter().map(|segment| Bits::none(segment.max_doc())).collect();
        Ok(Self { searcher, fields, valid, matching })
    }

    /// Returns how many documents have a term; from now on they match.
    pub(super) fn count(&mut self, text: &str, part: Part) -> Result<u64, Trouble> {
        let term = Term::from_field_text(self.field(part), text);
        let mut count = 0;
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            if let Some(mut bits) = postings(segment, &term)? {
                bits.retain(&self.valid[number]);
                count += bits.count();
                self.matching[number].extend(&bits);
            }
        }
        Ok(count)
    }

    /// Calls `each` with every word, once for each segment, and about how many documents have it.
    pub(super) fn each_word(&self, each: &mut dyn FnMut(&str, u64)) -> Result<(), Trouble> {
        self.each_word_from("", each)
    }

    /// Calls `each` with every word that begins with `start`, once for each segment, and about how many documents have it.
    pub(super) fn each_word_from(&self, start: &str, each: &mut dyn FnMut(&str, u64)) -> Result<(), Trouble> {
        for segment in self.searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.text)?;
            let mut words = inverted.terms().range().ge(start).into_stream()?;
            while let Some((word, found)) = words.next() {
                if !word.starts_with(start.as_bytes()) {
                    break;
                }
                if let Ok(word) = std::str::from_utf8(word) {
                    each(word, u64::from(found.doc_freq));
                }
            }
        }
        Ok(())
    }

    /// Returns how many documents match and pass the filter; from now on no other matches.
    pub(super) fn filter(&mut self, filter: &TextFilter) -> Result<u64, Trouble> {
        let mut total = 0;
        for (segment, bits) in self.searcher.segment_readers().iter().zip(&mut self.matching) {
            for wanted in &filter.bits {
                let term = Term::from_field_u64(self.fields.filters, wanted.cast_unsigned());
                match postings(segment, &term)? {
                    Some(passing) => bits.retain(&passing),
                    None => *bits = Bits::none(segment.max_doc()),
                }
            }
            if let Some(moment) = filter.holds_after
                && let Some(mut ended) =
                    postings(segment, &Term::from_field_u64(self.fields.filters, Handle::Ends.bits().cast_unsigned()))?
            {
                let holds_until = segment.fast_fields().i64(names::HOLDS_UNTIL)?;
                ended.filter(|document| holds_until.first(document).is_none_or(|end| end <= moment));
                bits.remove_all(&ended);
            }
            if filter.from.is_some() || filter.until.is_some() {
                let created_at = segment.fast_fields().i64(names::CREATED_AT)?;
                bits.filter(|document| {
                    let created_at = created_at.first(document).unwrap_or_default();
                    filter.from.is_none_or(|from| from <= created_at) && filter.until.is_none_or(|until| created_at < until)
                });
            }
            total += bits.count();
        }
        Ok(total)
    }

    /// Returns the documents that may be among the best `limit` of those that match.
    pub(super) fn best(&self, wanted: &[Wanted], statistics: &Statistics, limit: usize) -> Result<Vec<Found>, Trouble> {
        let terms: Vec<Term> = wanted.iter().map(|own| Term::from_field_text(self.field(own.part), &own.text)).collect();
        let known = Known {
            statistics,
            fields: self.fields,
            documents: terms.iter().cloned().zip(wanted.iter().map(|own| own.documents)).collect(),
        };
        let scoring = EnableScoring::enabled_from_statistics_provider(&known, self.searcher);
        let weight = query(&terms).weight(scoring)?;
        let mut best = Best::new(limit);
        let ties = Ties::new(self.searcher);
        let tie = |candidate: &Candidate| ties.of(candidate);
        for (number, segment) in self.searcher.segment_readers().iter().enumerate() {
            let matching = &self.matching[number];
            if matching.count() == 0 {
                continue;
            }
            weight.for_each_pruning(best.threshold(), segment, &mut |document, score| {
                // What does not pass the filter must not push out what does.
                if matching.contains(document) {
                    best.offer(Candidate { score, segment: number, document }, &tie);
                }
                best.threshold()
            })?;
        }
        let candidates = best.into_candidates(&tie);
        ties.trouble.into_inner().map_or(Ok(()), Err)?;
        self.look_at(candidates, &terms)
    }

    /// Finds out how often each term stands in each candidate.
    fn look_at(&self, mut candidates: Vec<Candidate>, terms: &[Term]) -> Result<Vec<Found>, Trouble> {
        candidates.sort_unstable_by_key(|candidate| (candidate.segment, candidate.document));
        let mut found = Vec::with_capacity(candidates.len());
        for group in candidates.chunk_by(|left, right| left.segment == right.segment) {
            let segment = self.searcher.segment_reader(u32::try_from(group[0].segment).unwrap_or(u32::MAX));
            let keys = segment.fast_fields().u64(names::KEY)?;
            let text = segment.get_fieldnorms_reader(self.fields.text)?;
            let characters = segment.get_fieldnorms_reader(self.fields.characters)?;
            let first = found.len();
            for Candidate { document, .. } in group {
                let key = keys.first(*document).unwrap_or_default().cast_signed();
                let lengths = [text.fieldnorm(*document), characters.fieldnorm(*document)];
                found.push(Found { key, frequencies: vec![0; terms.len()], lengths });
            }
            for (number, term) in terms.iter().enumerate() {
                let inverted = segment.inverted_index(term.field())?;
                let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::WithFreqs)? else { continue };
                for (candidate, found) in group.iter().zip(&mut found[first..]) {
                    if postings.doc() < candidate.document {
                        postings.seek(candidate.document);
                    }
                    if postings.doc() == candidate.document {
                        found.frequencies[number] = postings.term_freq();
                    }
                }
            }
        }
        Ok(found)
    }

    fn field(&self, part: Part) -> Field {
        field(self.fields, part)
    }
}

/// What decides between equally good documents: looked up only where there are more of them than are wanted.
struct Ties<'s> {
    searcher: &'s Searcher,
    columns: Vec<OnceCell<Option<Columns>>>,
    trouble: Cell<Option<Trouble>>,
}

/// When the documents of one segment were created, and the halves of their ids.
struct Columns {
    created_at: Column<i64>,
    id: [Column<u64>; 2],
}

impl<'s> Ties<'s> {
    fn new(searcher: &'s Searcher) -> Self {
        let columns = searcher.segment_readers().iter().map(|_| OnceCell::new()).collect();
        Self { searcher, columns, trouble: Cell::new(None) }
    }

    fn of(&self, candidate: &Candidate) -> (Reverse<i64>, u128) {
        let columns = self.columns[candidate.segment].get_or_init(|| {
            let columns = Columns::of(&self.searcher.segment_readers()[candidate.segment]);
            columns.map_err(|trouble| self.trouble.set(Some(trouble))).ok()
        });
        columns.as_ref().map_or((Reverse(0), 0), |columns| columns.of_document(candidate.document))
    }
}

impl Columns {
    fn of(segment: &SegmentReader) -> Result<Self, Trouble> {
        let fast = segment.fast_fields();
        let [high, low] = names::ID;
        Ok(Self { created_at: fast.i64(names::CREATED_AT)?, id: [fast.u64(high)?, fast.u64(low)?] })
    }

    fn of_document(&self, document: DocId) -> (Reverse<i64>, u128) {
        let [high, low] = self.id.each_ref().map(|half| u128::from(half.first(document).unwrap_or_default()));
        (Reverse(self.created_at.first(document).unwrap_or_default()), high << 64 | low)
    }
}

fn field(fields: Fields, part: Part) -> Field {
    match part {
        Part::Text => fields.text,
        Part::Characters => fields.characters,
    }
}

/// How many documents there are, and how long all of them are together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statistics {
    pub(super) documents: u64,
    pub(super) lengths: [u64; 2],
}

impl Statistics {
    /// Returns the average length of a part.
    #[expect(clippy::cast_precision_loss, reason = "as the full text does it, so that scores are equal")]
    pub(super) fn average(&self, part: Part) -> f32 {
        self.lengths[part.number()] as f32 / self.documents as f32
    }
}

/// The statistics of all documents, pending or not, in the form in which the full text asks for them.
struct Known<'k> {
    statistics: &'k Statistics,
    fields: Fields,
    documents: HashMap<Term, u64>,
}

impl Bm25StatisticsProvider for Known<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let part = if field == self.fields.text { Part::Text } else { Part::Characters };
        Ok(self.statistics.lengths[part.number()])
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.statistics.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.documents.get(term).copied().unwrap_or_default())
    }
}

/// Any of the terms will do. Plain term queries, since only those can skip what cannot be among the best.
fn query(terms: &[Term]) -> Box<dyn Query> {
    let term = |term: &Term| Box::new(TermQuery::new(term.clone(), IndexRecordOption::WithFreqs)) as Box<dyn Query>;
    match terms {
        [only] => term(only),
        several => Box::new(BooleanQuery::new(several.iter().map(|own| (Occur::Should, term(own))).collect())),
    }
}

fn postings(segment: &SegmentReader, term: &Term) -> Result<Option<Bits>, Trouble> {
    let inverted = segment.inverted_index(term.field())?;
    let found = inverted.read_block_postings(term, IndexRecordOption::Basic)?;
    Ok(found.map(|postings| Bits::of(segment.max_doc(), postings)))
}
