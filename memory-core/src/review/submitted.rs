//! The proposals that were made of the changes of one call.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{MemoryId, ProposedAction};

/// A proposal that was stored in place of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubmittedProposal {
    /// The proposal.
    pub id: MemoryId,
    /// The proposed action.
    pub action: ProposedAction,
    /// Whether the proposal is new; otherwise an equal one was waiting already.
    pub is_new: bool,
}

/// Collects the proposals that a view stores in place of changes.
///
/// The caller of a use case learns from it that a change waits for a review. A clone collects into the same list.
#[derive(Debug, Clone, Default)]
pub struct SubmittedProposals(Arc<Mutex<Vec<SubmittedProposal>>>);

impl SubmittedProposals {
    /// Adds proposals.
    pub(crate) fn add(&self, proposals: impl IntoIterator<Item = SubmittedProposal>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(proposals);
    }

    /// Returns whether `id` is one of the proposals.
    pub fn contains(&self, id: &MemoryId) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .any(|proposal| proposal.id == *id)
    }

    /// Removes and returns all proposals so far.
    pub fn take(&self) -> Vec<SubmittedProposal> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
