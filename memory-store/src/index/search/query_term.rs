//! A query word, the fields of the index that hold its terms, and the words that a search requires and excludes.

use memory_core::query_parser::{Phrase, TextQuery};
use memory_core::text::{Term, TokenKind};

use super::pending_rows::PendingDocument;
use super::segments::SegmentsView;
use crate::index::error::IndexError;

/// A query word with the index terms that match it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueryTerm {
    pub(super) part: TermField,
    /// The terms that match the word exactly, or the expansion of a prefix.
    pub(super) exact: Vec<String>,
    /// Similar terms with their similarity.
    pub(super) alike: Vec<(String, f32)>,
    /// The number of documents that contain one of the exact terms.
    pub(super) documents: u64,
    /// Whether a document matches the query if it contains this word.
    pub(super) matches: bool,
}

impl QueryTerm {
    /// Returns the terms by which a document matches; similar terms count only if no exact term exists.
    pub(super) fn matching_terms(&self) -> impl Iterator<Item = &str> {
        let alike = self
            .alike
            .iter()
            .map(|(term, _)| term.as_str())
            .filter(|_| self.exact.is_empty());
        self.exact
            .iter()
            .map(String::as_str)
            .chain(alike)
            .filter(|_| self.matches)
    }
}

/// The index field that holds a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TermField {
    /// Words and bigrams.
    Text,
    /// Single characters.
    Characters,
    /// Unstemmed words and symbols.
    Spelled,
}

impl TermField {
    /// Returns the field that holds terms of this kind.
    pub(super) fn of(term: &Term) -> Self {
        match term.kind {
            TokenKind::Word | TokenKind::Bigram => Self::Text,
            TokenKind::Character => Self::Characters,
            TokenKind::Symbol => Self::Spelled,
        }
    }

    /// Returns the index of the document length that normalizes the weight of a term in this field.
    pub(super) fn length_index(self) -> usize {
        match self {
            Self::Text | Self::Spelled => 0,
            Self::Characters => 1,
        }
    }
}

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
