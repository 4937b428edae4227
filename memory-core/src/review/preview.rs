//! The effect that the acceptance of a proposal would have on an existing memory.

use super::decide::equal_memory_patch;
use crate::{Memory, Patch, ProposedAction, Services, StoreError, WaitingProposal};

/// A memory before and after the acceptance of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptancePreview {
    /// The current version.
    pub before: Memory,
    /// The version after the acceptance.
    pub after: Memory,
}

/// Returns the effect of accepting a proposal on the memory that it changes, or that has the same text already.
///
/// `None` means that the acceptance writes a new memory or deletes one, or that the memory to change no longer exists.
///
/// # Errors
/// If the memories cannot be read.
pub fn preview_acceptance(
    services: &Services,
    waiting: &WaitingProposal,
) -> Result<Option<AcceptancePreview>, StoreError> {
    let proposed = &waiting.stored.memory;
    let (before, patch) = match waiting.proposal.action {
        ProposedAction::Write => match services
            .store
            .by_content(&proposed.content_hash(), &proposed.scope)?
            .first()
        {
            Some(id) => {
                let existing = services.store.get(id)?;
                let (patch, _) = equal_memory_patch(proposed, &existing, None, &services.actor);
                (existing.memory, patch)
            }
            None => return Ok(None),
        },
        ProposedAction::Update(_) => match &waiting.target {
            Some(target) => (
                target.memory.clone(),
                Patch::from_proposal(&target.memory, proposed),
            ),
            None => return Ok(None),
        },
        ProposedAction::Delete(_) => return Ok(None),
    };
    let after = patch
        .apply(&before, services.clock.now())
        .unwrap_or_else(|| before.clone());
    Ok(Some(AcceptancePreview { before, after }))
}
