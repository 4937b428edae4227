//! Substring search: expansion of query words to longer words that contain them.

use std::collections::HashSet;

use memory_core::query_parser::{QueryWord, WordRole};
use memory_core::text::TokenKind;

use super::pending_rows::PendingDocument;
use super::query_term::{QueryTerm, TermField};
use super::segments::SegmentsView;
use crate::index::error::IndexError;
use crate::index::text::FullText;

/// Maximum number of query words that get substring expansion.
const MAX_EXPANDED_WORDS: usize = 8;

/// Maximum number of containing words per query word and segment; the most frequent ones are used.
const MAX_CONTAINING_WORDS: usize = 1024;

/// Minimum length in characters of a word that expands in every query.
///
/// Shorter words expand only if they are symbols or the only content word of the query.
const MIN_CHARS: usize = 3;

/// Minimum length in characters of a word that expands at all.
const MIN_SOLE_CHARS: usize = 2;

/// Minimum similarity of a containing word.
const MIN_COVERAGE: f32 = 0.3;

/// The containing words of each query word.
#[derive(Debug, Default)]
pub(super) struct SubstringTerms {
    /// The query words that expand, by their index in the query; `None` for those that do not.
    parts: Vec<Option<String>>,
    /// The containing words from committed segments, one lookup per query word.
    wanted: Vec<QueryTerm>,
}

impl SubstringTerms {
    /// Finds the words of committed segments that contain the query words.
    pub(super) fn of(
        words: &[QueryWord],
        wanted: &[QueryTerm],
        text: &FullText,
        flushed: &SegmentsView<'_>,
    ) -> Result<Self, IndexError> {
        let parts = expandable_words(words);
        let mut holding = vec![HashSet::<String>::new(); parts.len()];
        flushed.each_word_containing(text, &parts, MAX_CONTAINING_WORDS, &mut |index, word| {
            holding[index].insert(word.to_owned());
        })?;
        let in_stead =
            |((part, holding), own): ((&Option<String>, HashSet<String>), &QueryTerm)| {
                let part = part.as_deref().unwrap_or_default();
                let mut alike: Vec<(String, f32)> = holding
                    .into_iter()
                    .map(|word| (coverage(part, &word), word))
                    .map(|(like, word)| (word, like))
                    .collect();
                alike.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
                QueryTerm {
                    part: TermField::Spelled,
                    exact: Vec::new(),
                    alike,
                    documents: own.documents,
                    matches: true,
                }
            };
        let wanted = parts
            .iter()
            .zip(holding)
            .zip(wanted)
            .map(in_stead)
            .collect();
        Ok(Self { parts, wanted })
    }

    /// Returns the lookups for committed segments, one per query word.
    pub(super) fn terms(&self) -> &[QueryTerm] {
        &self.wanted
    }

    /// Returns the similarity of the best containing word of a pending document, per query word.
    ///
    /// Returns `None` if the document contains no such word.
    pub(super) fn best_similarity(&self, document: &PendingDocument) -> Option<Vec<f32>> {
        let spelled = &document.words.spelled;
        let is_worth_a_look = |part: &String| spelled.0.contains(part.as_str());
        if !self.parts.iter().flatten().any(is_worth_a_look) {
            return None;
        }
        let mut all = vec![0.0_f32; self.parts.len()];
        for (word, _) in spelled.terms() {
            for (like, part) in all.iter_mut().zip(&self.parts) {
                if let Some(part) = part.as_deref().filter(|part| contains_part(word, part)) {
                    *like = like.max(coverage(part, word));
                }
            }
        }
        all.iter().any(|like| 0.0 < *like).then_some(all)
    }
}

/// Returns the query words that get substring expansion, by their index in the query.
pub(super) fn expandable_words(words: &[QueryWord]) -> Vec<Option<String>> {
    let contents = words
        .iter()
        .filter(|word| word.role == WordRole::Content)
        .count();
    let mut left = MAX_EXPANDED_WORDS;
    let mut part = |word: &QueryWord| {
        let length = word.spelled.chars().count();
        let is_long = MIN_CHARS <= length
            || MIN_SOLE_CHARS <= length && (contents == 1 || word.term.kind == TokenKind::Symbol);
        let is_meant = word.role == WordRole::Content && !word.is_prefix && is_long;
        let is_kind = matches!(word.term.kind, TokenKind::Word | TokenKind::Symbol);
        if left == 0 || !is_meant || !is_kind {
            return None;
        }
        left -= 1;
        Some(word.spelled.clone())
    };
    words.iter().map(&mut part).collect()
}

/// Returns whether `word` contains `part` without splitting a number.
///
/// A number may be split only if `part` consists of digits alone: `note2` is not found in `note20`, but `20` is found in `1203`.
pub(super) fn contains_part(word: &str, part: &str) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let (bytes, own) = (word.as_bytes(), part.as_bytes());
    let is_number = own.iter().all(u8::is_ascii_digit);
    word.match_indices(part).any(|(start, _)| {
        let end = start + own.len();
        let cuts_before = is_digit(own.first()) && 0 < start && is_digit(bytes.get(start - 1));
        let cuts_behind = is_digit(own.last()) && is_digit(bytes.get(end));
        is_number || !(cuts_before || cuts_behind)
    })
}

/// Returns the share of `word` that `part` covers, at least `MIN_COVERAGE`.
#[expect(clippy::cast_precision_loss, reason = "words have at most 64 letters")]
fn coverage(part: &str, word: &str) -> f32 {
    (part.len() as f32 / word.len() as f32).clamp(MIN_COVERAGE, 1.0)
}

#[cfg(test)]
mod tests {
    use super::contains_part;

    #[test]
    fn a_part_stands_anywhere_and_cuts_no_number() {
        for (word, part) in [
            ("postgresql", "sql"),
            ("sqlite", "sql"),
            ("mysqldump", "sql"),
            ("note20", "ote"),
            ("1203", "20"),
            ("v2v20", "v2"),
        ] {
            assert!(contains_part(word, part), "{part} in {word}");
        }
        for (word, part) in [
            ("note20", "note2"),
            ("120px", "20px"),
            ("sq", "sql"),
            ("v20", "v2"),
        ] {
            assert!(!contains_part(word, part), "{part} in {word}");
        }
    }
}
