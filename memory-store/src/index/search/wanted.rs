//! Lookup of query words in the index, with expansion to similar words.

use std::collections::{BTreeSet, HashMap, HashSet};

use memory_core::question::{Role, Word};
use memory_core::text::{Term, TokenKind, query_terms};

use super::flushed::Flushed;
use super::pending::Pending;
use super::slip::Slip;
use crate::index::trouble::Trouble;

/// Maximum number of longer words to which an unknown word expands.
const WIDEST: usize = 64;

/// Maximum number of words to which a prefix expands; the most frequent ones are used.
const LONGER: usize = 1024;

/// Maximum number of similar words per query word.
const ALIKE: usize = 4;

/// Minimum length of the common prefix of similar words, in bytes.
const SHARED: usize = 4;

/// Minimum similarity of similar words, as `likeness` defines it.
const LIKE: f32 = 0.6;

/// Minimum length of a word for typo correction, in bytes.
///
/// Most shorter words have unrelated words at edit distance 1.
const SLIPPED: usize = 5;

/// Number of query words that expand to similar words; later words match exactly or as a prefix only.
const LOOKED_AROUND: usize = 32;

/// Minimum similarity of a longer word with the query word as its prefix.
const HOLDS: f32 = 0.3;

/// A query word with the index terms that match it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    pub(super) part: Part,
    /// The terms that match the word exactly, or the expansion of a prefix.
    pub(super) exact: Vec<String>,
    /// Similar terms with their similarity.
    pub(super) alike: Vec<(String, f32)>,
    /// The number of documents that contain one of the exact terms.
    pub(super) documents: u64,
    /// Whether a document matches the query if it contains this word.
    pub(super) matches: bool,
}

/// The index field that holds a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Words and bigrams.
    Text,
    /// Single characters.
    Characters,
    /// Unstemmed words and symbols.
    Spelled,
}

impl Part {
    /// Returns the field that holds terms of this kind.
    pub(super) fn of(term: &Term) -> Self {
        match term.kind {
            TokenKind::Word | TokenKind::Bigram => Self::Text,
            TokenKind::Character => Self::Characters,
            TokenKind::Symbol => Self::Spelled,
        }
    }

    /// Returns the index of the document length that normalizes the weight of a term in this field.
    pub(super) fn number(self) -> usize {
        match self {
            Self::Text | Self::Spelled => 0,
            Self::Characters => 1,
        }
    }
}

impl Wanted {
    /// Returns the terms by which a document matches; similar terms count only if no exact term exists.
    pub(super) fn finders(&self) -> impl Iterator<Item = &str> {
        let alike = self.alike.iter().map(|(term, _)| term.as_str()).filter(|_| self.exact.is_empty());
        self.exact.iter().map(String::as_str).chain(alike).filter(|_| self.matches)
    }
}

/// Returns one index lookup per query word.
///
/// A word that occurs in no document expands to the longer words of which it is a prefix. A content word without such an expansion expands
/// to the most similar words with a common prefix and, if it occurs in no document, to words at edit distance 1. Only the first
/// `LOOKED_AROUND` words expand.
pub(super) fn wanted(words: &[Word], flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<Wanted>, Trouble> {
    let mut all = Vec::with_capacity(words.len());
    let mut left = LOOKED_AROUND;
    for word in words {
        let is_looked_around = 0 < left;
        left = left.saturating_sub(usize::from(word.role != Role::Aside && word.term.kind == TokenKind::Word));
        all.push(look_up(word, is_looked_around, flushed, pending)?);
    }
    set_aside_letters(words, &mut all);
    Ok(all)
}

/// Prevents matches by a single letter that the query contains only as part of an indexed symbol.
///
/// A query for `C#` does not match vitamin C.
fn set_aside_letters(words: &[Word], all: &mut [Wanted]) {
    let is_found = |(word, wanted): &(&Word, &mut Wanted)| word.term.kind == TokenKind::Symbol && 0 < wanted.documents;
    let symbols: Vec<String> =
        words.iter().zip(all.iter_mut()).filter(is_found).map(|(word, _)| word.term.text.clone()).collect();
    for (word, wanted) in words.iter().zip(all) {
        let letter = word.term.text.as_str();
        let is_letter = word.term.kind == TokenKind::Word && letter.chars().nth(1).is_none();
        let is_in = |symbol: &String| symbol != letter && (symbol.starts_with(letter) || symbol.ends_with(letter));
        if is_letter && symbols.iter().any(is_in) {
            wanted.matches = false;
        }
    }
}

fn look_up(word: &Word, is_looked_around: bool, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Wanted, Trouble> {
    let text = &word.term.text;
    let part = Part::of(&word.term);
    let mut wanted = Wanted {
        part,
        exact: vec![text.clone()],
        alike: Vec::new(),
        documents: 0,
        matches: !matches!(word.role, Role::Aside | Role::Character),
    };
    let own = flushed.count(text, part)? + in_pending(text, part, pending);
    if part == Part::Text && word.is_prefix {
        let mut longer = beginning_with(text, flushed, pending)?;
        // The typed prefix may be longer than the stem of its own word.
        for stem in query_terms(text).into_iter().filter(|stem| stem.text != *text) {
            longer.entry(stem.text).or_default();
        }
        wanted.exact = most_frequent(longer).into_iter().take(LONGER).collect();
        wanted.documents = flushed.count_any(&wanted.exact, part)?;
        let has_one = |document: &&Pending| wanted.exact.iter().any(|term| 0 < document.frequency(term, part));
        wanted.documents += pending.iter().filter(has_one).count() as u64;
        return Ok(wanted);
    }
    wanted.documents = own;
    if word.term.kind != TokenKind::Word {
        if own == 0 {
            wanted.exact.clear();
        }
        return Ok(wanted);
    }
    if own == 0 {
        wanted.exact.clear();
    }
    if !is_looked_around {
        return Ok(wanted);
    }
    if own == 0 {
        let longer = most_frequent(beginning_with(text, flushed, pending)?).into_iter().take(WIDEST);
        wanted.alike = longer
            .map(|longer| {
                let like = likeness(text, &longer).max(HOLDS);
                (longer, like)
            })
            .collect();
    }
    let is_plain = SHARED <= text.len() && text.bytes().all(|letter| letter.is_ascii_lowercase());
    if wanted.alike.is_empty() && is_plain && word.role == Role::Content {
        let mut alike = most_alike(text, flushed, pending)?;
        if own == 0 && SLIPPED <= text.len() {
            alike.extend(slips(text, flushed, pending)?);
            alike.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
            let mut seen = HashSet::new();
            alike.retain(|(other, _)| seen.insert(other.clone()));
            alike.truncate(ALIKE);
        }
        wanted.alike = alike;
    }
    Ok(wanted)
}

fn in_pending(text: &str, part: Part, pending: &[Pending]) -> u64 {
    pending.iter().filter(|document| 0 < document.frequency(text, part)).count() as u64
}

/// Returns the similarity of two words by their common prefix, from 0 to 1.
///
/// It is twice the length of the prefix divided by the sum of the lengths, in bytes.
#[expect(clippy::cast_precision_loss, reason = "words have at most 64 letters")]
fn likeness(one: &str, other: &str) -> f32 {
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    2.0 * common as f32 / (one.len() + other.len()) as f32
}

/// Returns the words most similar to `text` and their similarity, best first.
///
/// Ties are in alphabetical order.
fn most_alike(text: &str, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<(String, f32)>, Trouble> {
    let mut alike: Vec<(String, f32)> = Vec::with_capacity(ALIKE + 1);
    // Each segment has hundreds of such words; only the few that enter the list are allocated.
    let mut offer = |other: &str| {
        let like = likeness(text, other);
        let place = alike.partition_point(|(own, best)| like < *best || like.total_cmp(best).is_eq() && own.as_str() < other);
        let is_known = alike.get(place).is_some_and(|(own, _)| own == other);
        if LIKE <= like && place < ALIKE && !is_known && other != text {
            alike.insert(place, (other.to_owned(), like));
            alike.truncate(ALIKE);
        }
    };
    let start = &text[..SHARED];
    flushed.each_word_from(start, &|word| LIKE <= likeness(text, word), &mut |word, _| offer(word))?;
    for document in pending {
        document.words.text.terms().filter(|(word, _)| word.starts_with(start)).for_each(|(word, _)| offer(word));
    }
    Ok(alike)
}

/// Returns the words that begin with `start`, with the number of documents that contain each.
///
/// The numbers may include deleted documents.
fn beginning_with(start: &str, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<HashMap<String, u64>, Trouble> {
    let mut words = HashMap::<String, u64>::new();
    flushed.each_word_from(start, &|_| true, &mut |word, documents| {
        *words.entry(word.to_owned()).or_default() += documents;
    })?;
    for document in pending {
        for (word, _) in document.words.text.terms().filter(|(word, _)| word.starts_with(start)) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    Ok(words)
}

/// Returns the words at edit distance 1 from `text` that occur in a document, with their similarity.
#[expect(clippy::cast_precision_loss, reason = "words have at most 64 letters")]
fn slips(text: &str, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<(String, f32)>, Trouble> {
    let Some(slip) = Slip::of(text) else { return Ok(Vec::new()) };
    let mut words = BTreeSet::new();
    flushed.each_slip(&slip, &mut |word| words.extend([word.to_owned()]))?;
    for document in pending {
        words.extend(document.words.text.terms().map(|(word, _)| word).filter(|word| slip.makes(word)).map(str::to_owned));
    }
    let mut slips = Vec::new();
    for word in words {
        // The term dictionary still contains words of deleted documents.
        if 0 < flushed.count(&word, Part::Text)? + in_pending(&word, Part::Text, pending) {
            let like = 1.0 - 1.0 / text.len().max(word.len()) as f32;
            slips.push((word, like));
        }
    }
    Ok(slips)
}

fn most_frequent(words: HashMap<String, u64>) -> Vec<String> {
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort_unstable_by(|(left, often), (right, more)| more.cmp(often).then_with(|| left.cmp(right)));
    words.into_iter().map(|(word, _)| word).collect()
}
