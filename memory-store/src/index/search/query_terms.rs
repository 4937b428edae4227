//! Lookup of query words in the index, with expansion to similar words.

use std::collections::HashMap;

use memory_core::query_parser::{QueryWord, WordRole};
use memory_core::text::{TokenKind, query_terms};

use super::pending_rows::PendingDocument;
use super::query_term::{QueryTerm, TermField};
use super::segments::SegmentsView;
use crate::index::error::IndexError;

/// Maximum number of longer words to which an unknown word expands.
const MAX_LONGER_WORDS: usize = 64;

/// Maximum number of words to which a prefix expands; the most frequent ones are used.
const MAX_PREFIX_WORDS: usize = 1024;

/// Maximum number of similar words per query word.
const MAX_SIMILAR: usize = 4;

/// Minimum length of the common prefix of similar words, in bytes.
const MIN_SHARED_PREFIX: usize = 4;

/// Minimum similarity of similar words, as `prefix_similarity` defines it.
const MIN_SIMILARITY: f32 = 0.6;

/// Number of query words that expand to similar words; later words match exactly or as a prefix only.
const MAX_EXPANDED_WORDS: usize = 32;

/// Minimum similarity of a longer word with the query word as its prefix.
const PREFIX_SIMILARITY: f32 = 0.3;

/// Returns one index lookup per query word.
///
/// A word that occurs in no document expands to the longer words of which it is a prefix. A content word without such an expansion expands
/// to the most similar words with a common prefix. Only the first `MAX_EXPANDED_WORDS` words expand.
pub(super) fn look_up_words(
    words: &[QueryWord],
    flushed: &SegmentsView<'_>,
    pending: &[PendingDocument],
) -> Result<Vec<QueryTerm>, IndexError> {
    let mut all = Vec::with_capacity(words.len());
    let mut left = MAX_EXPANDED_WORDS;
    for word in words {
        let is_looked_around = 0 < left;
        left = left.saturating_sub(usize::from(
            word.role != WordRole::Aside && word.term.kind == TokenKind::Word,
        ));
        all.push(look_up_word(word, is_looked_around, flushed, pending)?);
    }
    ignore_symbol_letters(words, &mut all);
    Ok(all)
}

/// Prevents matches by a single letter that the query contains only as part of an indexed symbol.
///
/// A query for `C#` does not match vitamin C.
fn ignore_symbol_letters(words: &[QueryWord], all: &mut [QueryTerm]) {
    let is_found = |(word, wanted): &(&QueryWord, &mut QueryTerm)| {
        word.term.kind == TokenKind::Symbol && 0 < wanted.documents
    };
    let symbols: Vec<String> = words
        .iter()
        .zip(all.iter_mut())
        .filter(is_found)
        .map(|(word, _)| word.term.text.clone())
        .collect();
    for (word, wanted) in words.iter().zip(all) {
        let letter = word.term.text.as_str();
        let is_letter = word.term.kind == TokenKind::Word && letter.chars().nth(1).is_none();
        let is_in = |symbol: &String| {
            symbol != letter && (symbol.starts_with(letter) || symbol.ends_with(letter))
        };
        if is_letter && symbols.iter().any(is_in) {
            wanted.matches = false;
        }
    }
}

/// Returns the number of pending documents that contain one of the exact terms.
fn count_any_in_pending(wanted: &QueryTerm, pending: &[PendingDocument]) -> u64 {
    let has = |document: &PendingDocument, term| 0 < document.frequency(term, wanted.part);
    let has_one = |document: &&PendingDocument| wanted.exact.iter().any(|term| has(document, term));
    pending.iter().filter(has_one).count() as u64
}

fn look_up_word(
    word: &QueryWord,
    is_looked_around: bool,
    flushed: &SegmentsView<'_>,
    pending: &[PendingDocument],
) -> Result<QueryTerm, IndexError> {
    let text = &word.term.text;
    let part = TermField::of(&word.term);
    let count = |term: &str| -> Result<u64, IndexError> {
        Ok(flushed.count(term, part)? + count_in_pending(term, part, pending))
    };
    let mut wanted = QueryTerm {
        part,
        exact: vec![text.clone()],
        alike: Vec::new(),
        documents: 0,
        matches: !matches!(word.role, WordRole::Aside | WordRole::Character),
    };
    let mut own = count(text)?;
    for other in &word.alternatives {
        if 0 < count(other)? {
            wanted.exact.push(other.clone());
        }
    }
    if 1 < wanted.exact.len() {
        own = flushed.count_any(&wanted.exact, part)? + count_any_in_pending(&wanted, pending);
    }
    if part == TermField::Text && word.is_prefix {
        let mut longer = words_with_prefix(text, flushed, pending)?;
        // The typed prefix may be longer than the stem of its own word.
        for stem in query_terms(text)
            .into_iter()
            .filter(|stem| stem.text != *text)
        {
            longer.entry(stem.text).or_default();
        }
        wanted.exact = most_frequent(longer)
            .into_iter()
            .take(MAX_PREFIX_WORDS)
            .collect();
        wanted.documents =
            flushed.count_any(&wanted.exact, part)? + count_any_in_pending(&wanted, pending);
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
        let longer = most_frequent(words_with_prefix(text, flushed, pending)?)
            .into_iter()
            .take(MAX_LONGER_WORDS);
        wanted.alike = longer
            .map(|longer| {
                let like = prefix_similarity(text, &longer).max(PREFIX_SIMILARITY);
                (longer, like)
            })
            .collect();
    }
    let is_plain =
        MIN_SHARED_PREFIX <= text.len() && text.bytes().all(|letter| letter.is_ascii_lowercase());
    if wanted.alike.is_empty() && is_plain && word.role == WordRole::Content {
        wanted.alike = most_similar(text, flushed, pending)?;
    }
    Ok(wanted)
}

pub(super) fn count_in_pending(text: &str, part: TermField, pending: &[PendingDocument]) -> u64 {
    pending
        .iter()
        .filter(|document| 0 < document.frequency(text, part))
        .count() as u64
}

/// Returns the similarity of two words by their common prefix, from 0 to 1.
///
/// It is twice the length of the prefix divided by the sum of the lengths, in bytes.
#[expect(clippy::cast_precision_loss, reason = "words have at most 64 letters")]
fn prefix_similarity(one: &str, other: &str) -> f32 {
    let common = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    2.0 * common as f32 / (one.len() + other.len()) as f32
}

/// Returns the words most similar to `text` and their similarity, best first.
///
/// Ties are in alphabetical order.
fn most_similar(
    text: &str,
    flushed: &SegmentsView<'_>,
    pending: &[PendingDocument],
) -> Result<Vec<(String, f32)>, IndexError> {
    let mut alike: Vec<(String, f32)> = Vec::with_capacity(MAX_SIMILAR + 1);
    // Each segment has hundreds of such words; only the few that enter the list are allocated.
    let mut offer = |other: &str| {
        let like = prefix_similarity(text, other);
        let place = alike.partition_point(|(own, best)| {
            like < *best || like.total_cmp(best).is_eq() && own.as_str() < other
        });
        let is_known = alike.get(place).is_some_and(|(own, _)| own == other);
        if MIN_SIMILARITY <= like && place < MAX_SIMILAR && !is_known && other != text {
            alike.insert(place, (other.to_owned(), like));
            alike.truncate(MAX_SIMILAR);
        }
    };
    let start = &text[..MIN_SHARED_PREFIX];
    flushed.each_word_with_prefix(
        start,
        &|word| MIN_SIMILARITY <= prefix_similarity(text, word),
        &mut |word, _| offer(word),
    )?;
    for document in pending {
        document
            .words
            .text
            .terms()
            .filter(|(word, _)| word.starts_with(start))
            .for_each(|(word, _)| offer(word));
    }
    Ok(alike)
}

/// Returns the words that begin with `start`, with the number of documents that contain each.
///
/// The numbers may include deleted documents.
fn words_with_prefix(
    start: &str,
    flushed: &SegmentsView<'_>,
    pending: &[PendingDocument],
) -> Result<HashMap<String, u64>, IndexError> {
    let mut words = HashMap::<String, u64>::new();
    flushed.each_word_with_prefix(start, &|_| true, &mut |word, documents| {
        *words.entry(word.to_owned()).or_default() += documents;
    })?;
    for document in pending {
        for (word, _) in document
            .words
            .text
            .terms()
            .filter(|(word, _)| word.starts_with(start))
        {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    Ok(words)
}

fn most_frequent(words: HashMap<String, u64>) -> Vec<String> {
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort_unstable_by(|(left, often), (right, more)| {
        more.cmp(often).then_with(|| left.cmp(right))
    });
    words.into_iter().map(|(word, _)| word).collect()
}
