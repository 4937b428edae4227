//! What an entry claims, parsed once.

use std::sync::{Arc, OnceLock};

use super::{Claim, Claims, LONGEST};
use crate::conversation::{Entry, EntryRole};
use crate::standing::{StandingKind, standing_sentences};

/// What one entry claims, parsed when it is first asked for. Copies share it.
#[derive(Debug, Clone, Default)]
pub(in crate::conversation) struct EntryClaims(Arc<Parsed>);

#[derive(Debug, Default)]
struct Parsed {
    whole: OnceLock<Arc<Claim>>,
    clauses: OnceLock<Arc<Claims>>,
    is_instruction: OnceLock<bool>,
}

impl EntryClaims {
    /// Returns the claim of all that `entry` states, which is empty if that is too long. It is the same entry each time.
    pub(in crate::conversation) fn whole(&self, entry: &Entry) -> Arc<Claim> {
        let parse = || if entry.content.len() <= LONGEST { Claim::of(entry.role, &entry.content) } else { Claim::default() };
        Arc::clone(self.0.whole.get_or_init(|| Arc::new(parse())))
    }

    /// Returns the claims of `entry` clause by clause. It is the same entry each time.
    pub(in crate::conversation) fn clauses(&self, entry: &Entry) -> Arc<Claims> {
        Arc::clone(self.0.clauses.get_or_init(|| Arc::new(Claims::new(entry.role, &entry.content))))
    }

    /// Tells whether `entry` holds a standing instruction of the person. It is the same entry each time.
    pub(in crate::conversation) fn is_instruction(&self, entry: &Entry) -> bool {
        let is_by_person = matches!(entry.role, EntryRole::User | EntryRole::Memory);
        let read = || standing_sentences(&entry.content).iter().any(|own| own.kind == StandingKind::Instruction);
        *self.0.is_instruction.get_or_init(|| is_by_person && read())
    }
}

impl PartialEq for EntryClaims {
    /// They follow from the entry, which is compared itself.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
