//! The words that a search requires and excludes.

use memory_core::query_parser::{Phrase, TextQuery};
use memory_core::text::Term;

use super::pending_rows::PendingDocument;
use super::query_term::TermField;
use super::segments::SegmentsView;
use crate::index::error::IndexError;

/// Required phrases and excluded words.
pub(super) struct TermConstraints<'q> {
    pub(super) question: &'q TextQuery,
}

impl TermConstraints<'_> {
    /// Returns whether a document that is not in the index yet has the phrases' words and no excluded word.
    pub(super) fn allows(&self, document: &PendingDocument) -> bool {
        let question = self.question;
        let has = |term: &Term| 0 < document.frequency(&term.text, TermField::of(term));
        question.phrases.iter().flat_map(Phrase::terms).all(has)
            && !question.without.iter().any(has)
    }

    /// Limits the results to documents with the words of every phrase and without excluded words.
    pub(super) fn restrict(&self, flushed: &mut SegmentsView<'_>) -> Result<(), IndexError> {
        for term in self.question.phrases.iter().flat_map(Phrase::terms) {
            flushed.require(&term.text, TermField::of(term), true)?;
        }
        for term in &self.question.without {
            flushed.require(&term.text, TermField::of(term), false)?;
        }
        Ok(())
    }
}
