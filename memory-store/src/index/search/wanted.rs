//! The words of a question, as the index knows them.

use std::collections::HashMap;

use memory_core::question::{Role, Word};
use memory_core::text::{Term, TokenKind, query_terms};

use super::flushed::Flushed;
use super::pending::Pending;
use crate::index::trouble::Trouble;

/// A word is widened to so many others at most.
const WIDEST: usize = 64;

/// A beginning stands for so many words at most, the most frequent ones.
const LONGER: usize = 1024;

/// So many words that are like a word of the question are looked at.
const ALIKE: usize = 4;

/// Words that share fewer letters at their beginning are not alike.
const SHARED: usize = 4;

/// How like a word of the question another one must be: twice the length of their common beginning, by the sum of theirs.
const LIKE: f32 = 0.6;

/// How like a word another one is that holds it, or begins with it, at least.
const HOLDS: f32 = 0.3;

/// One word of a question, as the index knows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    pub(super) part: Part,
    /// The terms that are this word.
    pub(super) exact: Vec<String>,
    /// Terms that are like it, and how much.
    pub(super) alike: Vec<(String, f32)>,
    /// How many documents have one of the exact terms.
    pub(super) documents: u64,
    /// Whether a document matches because it has this word.
    pub(super) matches: bool,
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
    /// Returns where a term of this kind stands.
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

impl Wanted {
    /// Returns the terms by which a document matches.
    pub(super) fn finders(&self) -> impl Iterator<Item = &str> {
        let alike = self.alike.iter().map(|(term, _)| term.as_str()).filter(|_| self.exact.is_empty());
        self.exact.iter().map(String::as_str).chain(alike).filter(|_| self.matches)
    }
}

/// Returns what to look for, one for each word of the question.
///
/// A word that nobody uses is widened to those that begin with it. When all that leaves nothing to find, the words that
/// hold a word of the question anywhere are taken. For that every word there is must be looked at, which costs more than all
/// else, so an answer that exists without it is not kept waiting.
pub(super) fn wanted(words: &[Word], flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<Wanted>, Trouble> {
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        all.push(look_up(word, flushed, pending)?);
    }
    let finds = |wanted: &Wanted| wanted.finders().next().is_some();
    if !all.iter().any(finds) {
        let of_words =
            |(word, _): &(&Word, &mut Wanted)| word.term.kind == TokenKind::Word && word.role == Role::Content && !word.is_prefix;
        for (word, wanted) in words.iter().zip(&mut all).filter(of_words) {
            wanted.alike = widen(&word.term.text, flushed, pending)?;
        }
    }
    Ok(all)
}

fn look_up(word: &Word, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Wanted, Trouble> {
    let text = &word.term.text;
    let part = Part::of(&word.term);
    let mut wanted =
        Wanted { part, exact: vec![text.clone()], alike: Vec::new(), documents: 0, matches: word.role != Role::Aside };
    let own = flushed.count(text, part)? + in_pending(text, part, pending);
    if part == Part::Text && word.is_prefix {
        let mut longer = beginning_with(text, flushed, pending)?;
        // What was typed may reach beyond the stem of its own word.
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
        let mut alike: Vec<(String, f32)> = beginning_with(&text[..SHARED], flushed, pending)?
            .into_keys()
            .map(|other| {
                let like = likeness(text, &other);
                (other, like)
            })
            .filter(|(other, like)| LIKE <= *like && other != text)
            .collect();
        alike.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        alike.truncate(ALIKE);
        wanted.alike = alike;
    }
    Ok(wanted)
}

fn in_pending(text: &str, part: Part, pending: &[Pending]) -> u64 {
    pending.iter().filter(|document| 0 < document.frequency(text, part)).count() as u64
}

/// Returns twice the length of the common beginning of two words, by the sum of their lengths.
#[expect(clippy::cast_precision_loss, reason = "words have at most 64 letters")]
fn likeness(one: &str, other: &str) -> f32 {
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    2.0 * common as f32 / (one.len() + other.len()) as f32
}

/// Returns the words that begin with `start`, and in how many documents each stands.
fn beginning_with(start: &str, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<HashMap<String, u64>, Trouble> {
    let mut words = HashMap::<String, u64>::new();
    flushed.each_word_from(start, &mut |word, documents| *words.entry(word.to_owned()).or_default() += documents)?;
    for document in pending {
        for (word, _) in document.words.text.terms().filter(|(word, _)| word.starts_with(start)) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    Ok(words)
}

/// Returns the words that hold `piece`, the most frequent first.
fn widen(piece: &str, flushed: &Flushed<'_>, pending: &[Pending]) -> Result<Vec<(String, f32)>, Trouble> {
    let mut words = HashMap::<String, u64>::new();
    flushed.each_word_from("", &mut |word, documents| {
        if word.contains(piece) {
            *words.entry(word.to_owned()).or_default() += documents;
        }
    })?;
    for document in pending {
        for (word, _) in document.words.text.terms().filter(|(word, _)| word.contains(piece)) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    Ok(most_frequent(words).into_iter().take(WIDEST).map(|word| (word, HOLDS)).collect())
}

fn most_frequent(words: HashMap<String, u64>) -> Vec<String> {
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort_unstable_by(|(left, often), (right, more)| more.cmp(often).then_with(|| left.cmp(right)));
    words.into_iter().map(|(word, _)| word).collect()
}
