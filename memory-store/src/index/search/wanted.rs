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

/// Returns the terms to look for: those of the question, and for a word that nobody uses those that begin with it.
///
/// When all that leaves nothing, the words that hold a word of the question anywhere are taken. For that every word there is
/// must be looked at, which costs more than all else, so an answer that exists without it is not kept waiting.
pub(super) fn wanted(terms: &[Term], flushed: &mut Flushed<'_>, pending: &[Pending]) -> Result<Vec<Wanted>, Trouble> {
    let mut wanted = Vec::<Wanted>::new();
    let mut unused = Vec::new();
    for term in terms {
        let own = count(&term.text, Part::of(term), flushed, pending)?;
        if 0 < own.documents {
            wanted.push(own);
        } else if term.kind == TokenKind::Word {
            let longer = widen(&[&term.text], Place::Start, flushed, pending)?;
            take(longer, &mut wanted, flushed, pending)?;
            unused.push(term.text.as_str());
        }
    }
    if wanted.is_empty() && !unused.is_empty() {
        let holding = widen(&unused, Place::Anywhere, flushed, pending)?;
        take(holding, &mut wanted, flushed, pending)?;
    }
    Ok(wanted)
}

/// Where in a word a piece of it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Anywhere,
}

fn take(words: Vec<String>, wanted: &mut Vec<Wanted>, flushed: &mut Flushed<'_>, pending: &[Pending]) -> Result<(), Trouble> {
    for word in words {
        let word = count(&word, Part::Text, flushed, pending)?;
        if 0 < word.documents && !wanted.contains(&word) {
            wanted.push(word);
        }
    }
    Ok(())
}

fn count(text: &str, part: Part, flushed: &mut Flushed<'_>, pending: &[Pending]) -> Result<Wanted, Trouble> {
    let in_pending = pending.iter().filter(|document| 0 < document.frequency(text, part)).count() as u64;
    let documents = flushed.count(text, part)? + in_pending;
    Ok(Wanted { text: text.to_owned(), part, documents })
}

/// Returns the words in which one of `pieces` stands, for each the most frequent first.
fn widen(pieces: &[&str], place: Place, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<String>, Trouble> {
    let mut found = vec![HashMap::<String, u64>::new(); pieces.len()];
    let mut see = |word: &str, documents: u64| {
        for (piece, words) in pieces.iter().zip(&mut found) {
            let stands = match place {
                Place::Start => word.starts_with(piece),
                Place::Anywhere => word.contains(piece),
            };
            if stands {
                *words.entry(word.to_owned()).or_default() += documents;
            }
        }
    };
    match (place, pieces) {
        (Place::Start, [piece]) => flushed.each_word_from(piece, &mut see)?,
        _ => flushed.each_word(&mut see)?,
    }
    for document in pending {
        document.words.text.terms().for_each(|(word, _)| see(word, 1));
    }
    Ok(found
        .into_iter()
        .flat_map(|words| {
            let mut words: Vec<_> = words.into_iter().collect();
            words.sort_unstable_by(|(left, often), (right, more)| more.cmp(often).then_with(|| left.cmp(right)));
            words.into_iter().take(WIDEST).map(|(word, _)| word)
        })
        .collect())
}
