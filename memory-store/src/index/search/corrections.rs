//! Corrections of misspelled words by the words of the index.

use chrono::{DateTime, Utc};
use memory_core::query_parser::TextQuery;
use memory_core::spelling::{Vocabulary, WordCorrection, correct_words};
use memory_core::{Filter, Scope, StoreError};

use super::document_set::DocumentSet;
use super::gather::open_searcher;
use super::pending_rows::{PendingDocument, read_pending};
use super::query_term::TermField;
use super::segments::SegmentsView;
use crate::index::error::IndexError;
use crate::index::memory_index::MemoryIndex;
use crate::index::schema::IndexMeta;
use crate::index::text::FullText;

impl MemoryIndex {
    /// Returns the corrections of the words of a query that no visible document contains.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn correct_words(
        &self,
        question: &TextQuery,
        within: Option<&[Scope]>,
    ) -> Result<Vec<WordCorrection>, StoreError> {
        // A filter for all lifetimes depends on no time.
        let filter = Filter::all().within(within);
        self.query("correct the words", |_, opened| {
            let epoch = IndexMeta::read(&opened.connection)?.epoch;
            let (connection, text, _) = opened.text(epoch)?;
            let transaction = connection.transaction()?;
            let searcher = open_searcher(text, epoch, &IndexMeta::read(&transaction)?)?;
            let (pending, keys) = read_pending(&transaction, &filter, DateTime::<Utc>::UNIX_EPOCH)?;
            let flushed = SegmentsView::new(&searcher, text.fields, &keys, within)?;
            correct_words(
                question,
                &IndexVocabulary {
                    text,
                    flushed,
                    pending,
                },
            )
        })
    }
}

/// The words of the visible documents, committed or pending.
struct IndexVocabulary<'i> {
    text: &'i FullText,
    flushed: SegmentsView<'i>,
    pending: Vec<PendingDocument>,
}

impl Vocabulary for IndexVocabulary<'_> {
    /// The committed documents by segment, and the pending ones by their index.
    type Documents = (Vec<DocumentSet>, Vec<usize>);
    type Error = IndexError;

    fn each_word(&self, each: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        self.flushed.each_word(self.text, each)?;
        for document in &self.pending {
            document
                .words
                .spelled
                .terms()
                .for_each(|(word, _)| each(word));
        }
        Ok(())
    }

    fn documents(&self, terms: &[&str]) -> Result<Self::Documents, IndexError> {
        let has_one = |document: &PendingDocument| {
            let mut terms = terms.iter();
            terms.any(|term| 0 < document.frequency(term, TermField::Text))
        };
        let pending = self.pending.iter().enumerate();
        let pending = pending.filter(|(_, own)| has_one(own));
        Ok((
            self.flushed.documents(terms)?,
            pending.map(|(number, _)| number).collect(),
        ))
    }

    fn count(&self, (flushed, pending): &Self::Documents) -> u64 {
        flushed.iter().map(DocumentSet::count).sum::<u64>() + pending.len() as u64
    }

    fn overlap(&self, one: &Self::Documents, other: &Self::Documents) -> bool {
        let share = |(one, other): (&DocumentSet, &DocumentSet)| one.overlaps(other);
        one.0.iter().zip(&other.0).any(share) || one.1.iter().any(|own| other.1.contains(own))
    }
}
