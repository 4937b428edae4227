//! The words that the full text knows.

use tantivy::Term;
use tantivy::schema::IndexRecordOption;

use super::{Flushed, any};
use crate::index::search::bits::Bits;
use crate::index::search::slip::Slip;
use crate::index::search::wanted::Part;
use crate::index::trouble::Trouble;

impl Flushed<'_> {
    /// Returns how many documents have a term.
    pub(in crate::index::search) fn count(&self, text: &str, part: Part) -> Result<u64, Trouble> {
        self.count_any(&[text.to_owned()], part)
    }

    /// Returns how many documents have one of the terms.
    pub(in crate::index::search) fn count_any(&self, texts: &[String], part: Part) -> Result<u64, Trouble> {
        let terms: Vec<Term> = texts.iter().map(|text| self.term(text, part)).collect();
        let mut count = 0;
        for (segment, valid) in self.searcher.segment_readers().iter().zip(&self.valid) {
            if let ([only], true) = (terms.as_slice(), valid.count() == u64::from(segment.max_doc())) {
                count += u64::from(segment.inverted_index(only.field())?.doc_freq(only)?);
                continue;
            }
            let mut bits = any(segment, &terms)?;
            bits.retain(valid);
            count += bits.count();
        }
        Ok(count)
    }

    /// Calls `each` with every word that begins with `start`, once for each segment, and about how many documents have it.
    ///
    /// Where only some scopes count, so do only their words, and it is counted how often they have them; `matters` tells for
    /// which words that is worth the while.
    pub(in crate::index::search) fn each_word_from(
        &self,
        start: &str,
        matters: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&str, u64),
    ) -> Result<(), Trouble> {
        for (segment, valid) in self.searcher.segment_readers().iter().zip(&self.valid) {
            let inverted = segment.inverted_index(self.fields.text)?;
            let mut words = inverted.terms().range().ge(start).into_stream()?;
            while let Some((word, found)) = words.next() {
                if !word.starts_with(start.as_bytes()) {
                    break;
                }
                let Ok(word) = std::str::from_utf8(word) else { continue };
                if !self.is_narrowed {
                    each(word, u64::from(found.doc_freq));
                } else if matters(word) {
                    let mut bits = Bits::none(segment.max_doc());
                    bits.insert_all(inverted.read_block_postings_from_terminfo(found, IndexRecordOption::Basic)?);
                    bits.retain(valid);
                    match bits.count() {
                        0 => {}
                        documents => each(word, documents),
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with every word that is one slip away from another, once for each segment.
    pub(in crate::index::search) fn each_slip(&self, slip: &Slip, each: &mut dyn FnMut(&str)) -> Result<(), Trouble> {
        for segment in self.searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.text)?;
            let mut words = inverted.terms().search(slip.clone()).into_stream()?;
            while words.advance() {
                if let Ok(word) = std::str::from_utf8(words.key()) {
                    each(word);
                }
            }
        }
        Ok(())
    }
}
