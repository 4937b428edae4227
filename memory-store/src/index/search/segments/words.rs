//! Term lookups in the committed segments.

use std::cmp::Reverse;

use memory_core::spelling::WordPart;
use tantivy::Term;
use tantivy::schema::IndexRecordOption;

use super::{SegmentsView, documents_with_any};
use crate::index::error::IndexError;
use crate::index::search::document_set::DocumentSet;
use crate::index::search::query_term::TermField;
use crate::index::search::substrings::contains_part;
use crate::index::text::FullText;

impl SegmentsView<'_> {
    /// Returns the number of visible documents that contain a term.
    pub(in crate::index::search) fn count(
        &self,
        text: &str,
        part: TermField,
    ) -> Result<u64, IndexError> {
        self.count_any(&[text.to_owned()], part)
    }

    /// Returns the number of visible documents that contain one of the terms.
    pub(in crate::index::search) fn count_any(
        &self,
        texts: &[String],
        part: TermField,
    ) -> Result<u64, IndexError> {
        let terms: Vec<Term> = texts.iter().map(|text| self.term(text, part)).collect();
        let mut count = 0;
        for (segment, valid) in self.searcher.segment_readers().iter().zip(&self.valid) {
            if let ([only], true) = (
                terms.as_slice(),
                valid.count() == u64::from(segment.max_doc()),
            ) {
                count += u64::from(segment.inverted_index(only.field())?.doc_freq(only)?);
                continue;
            }
            let mut bits = documents_with_any(segment, &terms)?;
            bits.intersect(valid);
            count += bits.count();
        }
        Ok(count)
    }

    /// Calls `each` with every word that has the prefix `start`, once per segment, and its document count.
    ///
    /// With a scope restriction, only visible documents count, and words without one or for which `matters` returns false are skipped.
    /// Otherwise all words are reported, and their counts include deleted and pending documents.
    pub(in crate::index::search) fn each_word_with_prefix(
        &self,
        start: &str,
        matters: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&str, u64),
    ) -> Result<(), IndexError> {
        for (segment, valid) in self.searcher.segment_readers().iter().zip(&self.valid) {
            let inverted = segment.inverted_index(self.fields.text)?;
            let mut words = inverted.terms().range().ge(start).into_stream()?;
            while let Some((word, found)) = words.next() {
                if !word.starts_with(start.as_bytes()) {
                    break;
                }
                let Ok(word) = std::str::from_utf8(word) else {
                    continue;
                };
                if !self.is_narrowed {
                    each(word, u64::from(found.doc_freq));
                } else if matters(word) {
                    let mut bits = DocumentSet::empty(segment.max_doc());
                    bits.insert_all(
                        inverted
                            .read_block_postings_from_terminfo(found, IndexRecordOption::Basic)?,
                    );
                    bits.intersect(valid);
                    match bits.count() {
                        0 => {}
                        documents => each(word, documents),
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with the index of a part and every word that contains it, for each of `parts`.
    ///
    /// At most `most` words are reported per segment and part, the most frequent ones.
    pub(in crate::index::search) fn each_word_containing(
        &self,
        text: &FullText,
        parts: &[Option<String>],
        most: usize,
        each: &mut dyn FnMut(usize, &str),
    ) -> Result<(), IndexError> {
        let parts = || {
            parts
                .iter()
                .enumerate()
                .filter_map(|(number, part)| Some((number, part.as_deref()?)))
        };
        if parts().next().is_none() {
            return Ok(());
        }
        for segment in self.searcher.segment_readers() {
            if let Some(vocabulary) = text.vocabulary(segment.segment_id()) {
                for (number, part) in parts() {
                    let mut left = most;
                    vocabulary.each_word_with(part, &mut |word| {
                        if contains_part(word, part) {
                            each(number, word);
                            left -= 1;
                        }
                        0 < left
                    });
                }
                continue;
            }
            let inverted = segment.inverted_index(self.fields.spelled)?;
            let mut found: Vec<Vec<(Reverse<u32>, String)>> = parts().map(|_| Vec::new()).collect();
            let mut words = inverted.terms().stream()?;
            while let Some((word, info)) = words.next() {
                let Ok(word) = str::from_utf8(word) else {
                    continue;
                };
                for ((_, part), found) in parts().zip(&mut found) {
                    if contains_part(word, part) {
                        found.push((Reverse(info.doc_freq), word.to_owned()));
                    }
                }
            }
            for ((number, _), mut found) in parts().zip(found) {
                found.sort_unstable();
                found
                    .iter()
                    .take(most)
                    .for_each(|(_, word)| each(number, word));
            }
        }
        Ok(())
    }

    /// Calls `each` with every word that has a part, as it is spelled, once per segment.
    pub(in crate::index::search) fn each_word_with(
        &self,
        text: &FullText,
        part: WordPart<'_>,
        each: &mut dyn FnMut(&str),
    ) -> Result<(), IndexError> {
        for segment in self.searcher.segment_readers() {
            match (text.vocabulary(segment.segment_id()), part) {
                (Some(vocabulary), WordPart::Start(start)) => {
                    vocabulary.each_word_from(start, each);
                }
                (Some(vocabulary), WordPart::Inside(text)) => {
                    vocabulary.each_word_with(text, &mut |word| {
                        each(word);
                        true
                    });
                }
                (None, _) => {
                    let inverted = segment.inverted_index(self.fields.spelled)?;
                    let mut words = inverted.terms().stream()?;
                    while words.advance() {
                        str::from_utf8(words.key())
                            .into_iter()
                            .filter(|word| part.is_of(word))
                            .for_each(&mut *each);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the visible documents of each segment with one of the terms in their text.
    pub(in crate::index::search) fn documents(
        &self,
        texts: &[&str],
    ) -> Result<Vec<DocumentSet>, IndexError> {
        let terms = texts.iter().map(|text| self.term(text, TermField::Text));
        let terms: Vec<Term> = terms.collect();
        let mut all = Vec::with_capacity(self.valid.len());
        for (segment, valid) in self.searcher.segment_readers().iter().zip(&self.valid) {
            let mut documents = documents_with_any(segment, &terms)?;
            documents.intersect(valid);
            all.push(documents);
        }
        Ok(all)
    }
}
