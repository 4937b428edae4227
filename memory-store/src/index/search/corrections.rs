//! Corrections of misspelled words by the words of the index.

use std::cell::OnceCell;

use chrono::DateTime;
use memory_core::query_parser::TextQuery;
use memory_core::spelling::{Vocabulary, WordCorrection, WordPart, correct_words};
use memory_core::{Filter, Scope, StoreError};
use rusqlite::Connection;

use super::document_set::DocumentSet;
use super::gather::open_searcher;
use super::pending_rows::{PendingDocument, pending_keys, read_pending};
use super::query_term::TermField;
use super::query_terms::count_in_pending;
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
        let filter = Filter::all().within(within);
        self.query("correct the words", |_, opened| {
            let epoch = IndexMeta::read(&opened.connection)?.epoch;
            let (connection, text, _) = opened.text(epoch)?;
            let transaction = connection.transaction()?;
            let searcher = open_searcher(text, epoch, &IndexMeta::read(&transaction)?)?;
            let flushed =
                SegmentsView::new(&searcher, text.fields, &pending_keys(&transaction)?, within)?;
            correct_words(
                question,
                &IndexVocabulary {
                    rows: &transaction,
                    filter: &filter,
                    text,
                    flushed,
                    pending: OnceCell::new(),
                },
            )
        })
    }
}

/// The words of the visible documents, committed or pending.
struct IndexVocabulary<'i> {
    rows: &'i Connection,
    filter: &'i Filter,
    text: &'i FullText,
    flushed: SegmentsView<'i>,
    /// Read for the first word that no committed document contains.
    pending: OnceCell<Vec<PendingDocument>>,
}

impl IndexVocabulary<'_> {
    fn pending(&self) -> Result<&[PendingDocument], IndexError> {
        if self.pending.get().is_none() {
            // A filter for all lifetimes depends on no time.
            let (pending, _) = read_pending(self.rows, self.filter, DateTime::UNIX_EPOCH)?;
            let _ = self.pending.set(pending);
        }
        Ok(self.pending.get().map_or(&[], Vec::as_slice))
    }
}

impl Vocabulary for IndexVocabulary<'_> {
    /// The committed documents by segment, and the pending ones by their index.
    type Documents = (Vec<DocumentSet>, Vec<usize>);
    type Error = IndexError;

    fn each_word(&self, part: WordPart<'_>, each: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        self.flushed.each_word_with(self.text, part, each)?;
        for document in self.pending()? {
            let words = document.words.spelled.terms().map(|(word, _)| word);
            words.filter(|word| part.is_of(word)).for_each(&mut *each);
        }
        Ok(())
    }

    fn contains(&self, terms: &[&str]) -> Result<bool, IndexError> {
        for term in terms {
            if 0 < self.flushed.count(term, TermField::Text)?
                || 0 < count_in_pending(term, TermField::Text, self.pending()?)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn documents(&self, terms: &[&str]) -> Result<Self::Documents, IndexError> {
        let has_one = |document: &PendingDocument| {
            let mut terms = terms.iter();
            terms.any(|term| 0 < document.frequency(term, TermField::Text))
        };
        let pending = self.pending()?.iter().enumerate();
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
