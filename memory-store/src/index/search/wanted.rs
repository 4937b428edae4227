//! The terms of a question.

use std::collections::HashMap;

use memory_core::text::{Term, TokenKind};

use super::flushed::Flushed;
use super::pending::Pending;
use crate::index::trouble::Trouble;

/// A term that nobody uses is widened to so many words at most.
const WIDEST: usize = 64;

/// One term of a question, and how many documents have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) text: String,
    pub(super) part: Part,
    pub(super) documents: u64,
}

/// In which part of a document a term stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Words and pairs of characters.
    Text,
    /// Single characters.
    Characters,
}

impl Part {
    pub(super) fn of(term: &Term) -> Self {
        if term.kind == TokenKind::Character { Self::Characters } else { Self::Text }
    }

    /// Returns its number among all parts.
    pub(super) fn number(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Characters => 1,
        }
    }
}

/// Returns the terms to look for: those of the question, and for a word that nobody uses the words it is a part of.
pub(super) fn wanted(terms: &[Term], flushed: &mut Flushed<'_>, pending: &[Pending]) -> Result<Vec<Wanted>, Trouble> {
    let mut wanted = Vec::<Wanted>::new();
    for term in terms {
        let own = count(&term.text, Part::of(term), flushed, pending)?;
        if 0 < own.documents {
            wanted.push(own);
        } else if term.kind == TokenKind::Word {
            for word in widen(&term.text, flushed, pending)? {
                let word = count(&word, Part::Text, flushed, pending)?;
                if 0 < word.documents && !wanted.contains(&word) {
                    wanted.push(word);
                }
            }
        }
    }
    Ok(wanted)
}

fn count(text: &str, part: Part, flushed: &mut Flushed<'_>, pending: &[Pending]) -> Result<Wanted, Trouble> {
    let in_pending = pending.iter().filter(|document| 0 < document.frequency(text, part)).count() as u64;
    let documents = flushed.count(text, part)? + in_pending;
    Ok(Wanted { text: text.to_owned(), part, documents })
}

/// Returns the words that contain `piece`, the most frequent first.
fn widen(piece: &str, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<String>, Trouble> {
    let mut words = HashMap::<String, u64>::new();
    flushed.each_word(&mut |word, documents| {
        if word.contains(piece) {
            *words.entry(word.to_owned()).or_default() += documents;
        }
    })?;
    for document in pending {
        for (word, _) in document.words.text.terms().filter(|(word, _)| word.contains(piece)) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort_unstable_by(|(left, often), (right, more)| more.cmp(often).then_with(|| left.cmp(right)));
    Ok(words.into_iter().take(WIDEST).map(|(word, _)| word).collect())
}
