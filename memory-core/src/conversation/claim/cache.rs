//! Caches the parsed claims of an entry.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{MAX_CLAIM_BYTES, TextClaim, TextClaims};
use crate::conversation::{ConversationEntry, EntryRole};
use crate::standing::{StandingSentence, own_sentences, standing_sentences};
use crate::text::token_count;

/// The claims of one entry, parsed on first use and shared by copies.
#[derive(Debug, Clone, Default)]
pub(in crate::conversation) struct EntryClaims(Arc<ParsedClaims>);

#[derive(Debug, Default)]
struct ParsedClaims {
    whole: OnceLock<Arc<TextClaim>>,
    clauses: OnceLock<Arc<TextClaims>>,
    standing: OnceLock<Vec<StandingSentence>>,
}

impl EntryClaims {
    /// Returns the claim of all statements of `entry`, or an empty one if the text is too long.
    ///
    /// The caller must pass the same entry each time.
    pub(in crate::conversation) fn full_claim(&self, entry: &ConversationEntry) -> Arc<TextClaim> {
        let parse = || {
            if entry.content.len() <= MAX_CLAIM_BYTES {
                TextClaim::of(entry.role, &entry.content)
            } else {
                TextClaim::default()
            }
        };
        Arc::clone(self.0.whole.get_or_init(|| Arc::new(parse())))
    }

    /// Returns the claims of `entry` by clause. The caller must pass the same entry each time.
    pub(in crate::conversation) fn clause_claims(
        &self,
        entry: &ConversationEntry,
    ) -> Arc<TextClaims> {
        Arc::clone(
            self.0
                .clauses
                .get_or_init(|| Arc::new(TextClaims::new(entry.role, &entry.content))),
        )
    }

    /// Returns the standing instructions and preferences of the person in `entry`.
    ///
    /// They have at most [`MAX_STANDING_TOKENS`] tokens, but the first one is always included. The caller must pass the
    /// same entry each time.
    pub(in crate::conversation) fn standing(
        &self,
        entry: &ConversationEntry,
    ) -> &[StandingSentence] {
        self.0.standing.get_or_init(|| match entry.role {
            EntryRole::User => {
                let own = own_sentences(&entry.content);
                standing_excerpts(&entry.content, &|sentence| own.contains(sentence))
            }
            EntryRole::Memory => standing_excerpts(&entry.content, &|_| true),
            EntryRole::Assistant | EntryRole::Summary => Vec::new(),
        })
    }
}

/// The maximum size of the standing sentences of one entry, in tokens.
const MAX_STANDING_TOKENS: usize = 80;

/// Returns the first standing sentences of a text for which `is_own` returns true, without surrounding whitespace.
///
/// A long sentence begins at its cue.
fn standing_excerpts(text: &str, is_own: &dyn Fn(&Range<usize>) -> bool) -> Vec<StandingSentence> {
    let mut left = MAX_STANDING_TOKENS;
    let mut excerpts: Vec<StandingSentence> = Vec::new();
    for mut sentence in standing_sentences(text) {
        if !is_own(&sentence.span) {
            continue;
        }
        if MAX_STANDING_TOKENS < token_count(&text[sentence.span.clone()]) {
            sentence.span.start = sentence.cue;
        }
        let excerpt = &text[sentence.span.clone()];
        sentence.span.start += excerpt.len() - excerpt.trim_start().len();
        sentence.span.end = sentence.span.start + excerpt.trim().len();
        let size = token_count(excerpt);
        if size <= left || excerpts.is_empty() {
            left = left.saturating_sub(size);
            excerpts.push(sentence);
        }
    }
    excerpts
}

impl PartialEq for EntryClaims {
    /// Claims are derived from the entry, which is compared separately.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
