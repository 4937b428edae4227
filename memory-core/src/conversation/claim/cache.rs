//! Caches the parsed claims of an entry.

use std::sync::{Arc, OnceLock};

use super::{MAX_CLAIM_BYTES, TextClaim, TextClaims};
use crate::conversation::{ConversationEntry, EntryRole};
use crate::standing::{StandingKind, standing_sentences};

/// The claims of one entry, parsed on first use and shared by copies.
#[derive(Debug, Clone, Default)]
pub(in crate::conversation) struct EntryClaims(Arc<ParsedClaims>);

#[derive(Debug, Default)]
struct ParsedClaims {
    whole: OnceLock<Arc<TextClaim>>,
    clauses: OnceLock<Arc<TextClaims>>,
    is_instruction: OnceLock<bool>,
}

impl EntryClaims {
    /// Returns the claim of all statements of `entry`, or an empty one if the text is too long.
    ///
    /// The caller must pass the same entry each time.
    pub(in crate::conversation) fn whole(&self, entry: &ConversationEntry) -> Arc<TextClaim> {
        let parse = || {
            if entry.content.len() <= MAX_CLAIM_BYTES { TextClaim::of(entry.role, &entry.content) } else { TextClaim::default() }
        };
        Arc::clone(self.0.whole.get_or_init(|| Arc::new(parse())))
    }

    /// Returns the claims of `entry` by clause. The caller must pass the same entry each time.
    pub(in crate::conversation) fn clauses(&self, entry: &ConversationEntry) -> Arc<TextClaims> {
        Arc::clone(self.0.clauses.get_or_init(|| Arc::new(TextClaims::new(entry.role, &entry.content))))
    }

    /// Returns whether `entry` contains a standing instruction of the person.
    ///
    /// The caller must pass the same entry each time.
    pub(in crate::conversation) fn is_instruction(&self, entry: &ConversationEntry) -> bool {
        let is_by_person = matches!(entry.role, EntryRole::User | EntryRole::Memory);
        let read = || standing_sentences(&entry.content).iter().any(|own| own.kind == StandingKind::Instruction);
        *self.0.is_instruction.get_or_init(|| is_by_person && read())
    }
}

impl PartialEq for EntryClaims {
    /// Claims are derived from the entry, which is compared separately.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
