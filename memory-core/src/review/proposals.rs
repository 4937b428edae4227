//! Proposals: those that wait, with their state and effect, and those that the changes of one call resulted in.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use super::decide::{equal_memory_patch, is_version};
use crate::{
    Filter, ListOrder, Memory, MemoryId, MemoryStoreExt, PageRequest, Patch, Proposal,
    ProposalFilter, ProposedAction, Scope, Services, StoreError, StoredMemory,
};

/// The time after which a waiting proposal is reported by name.
pub const LONG_WAIT: TimeDelta = TimeDelta::days(7);

/// A proposal that waits for a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingProposal {
    /// The memory that contains the proposed text and fields.
    pub stored: StoredMemory,
    /// The agent and the action.
    pub proposal: Proposal,
    /// The memory that it would change, if it still exists.
    pub target: Option<StoredMemory>,
    /// Whether the memory that it would change was changed or deleted since.
    pub is_stale: bool,
}

/// The number of waiting proposals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposalSummary {
    /// Number of proposals.
    pub waiting: u64,
    /// The time of the oldest proposal, if there is one.
    pub oldest: Option<DateTime<Utc>>,
    /// The proposals that have been waiting for longer than [`LONG_WAIT`], oldest first.
    pub overdue: Vec<StoredMemory>,
}

/// Maximum number of overdue proposals that an announcement names.
const MAX_NAMED: usize = 3;

impl ProposalSummary {
    /// Returns a sentence for agents about the waiting proposals; `None` if there are none.
    ///
    /// It names those that have been waiting for a long time by their ids. It does not contain their texts, because no agent
    /// recalls them.
    pub fn announcement(&self) -> Option<String> {
        let (proposals, wait) = if self.waiting == 1 {
            ("proposal", "waits")
        } else {
            ("proposals", "wait")
        };
        let ids: Vec<String> = self
            .overdue
            .iter()
            .take(MAX_NAMED)
            .map(|stored| stored.memory.id.short())
            .collect();
        let more = self.overdue.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more")
        };
        let overdue = if ids.is_empty() {
            String::new()
        } else {
            format!("; for more than a week: {}{more}", ids.join(", "))
        };
        let count = self.waiting;
        (0 < count).then(|| format!("{count} {proposals} of agents {wait} for a review by the user in `memory inbox`{overdue}."))
    }
}

/// Returns the waiting proposals, oldest first.
///
/// # Errors
/// If the memories cannot be read.
pub fn proposals(services: &Services) -> Result<Vec<WaitingProposal>, StoreError> {
    waiting(services, None)?
        .into_iter()
        .filter_map(|stored| with_target(services, stored).transpose())
        .collect()
}

/// Returns the proposal that `reference` names.
///
/// # Errors
/// [`StoreError::Invalid`] if the memory is not a proposal; [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn proposal(services: &Services, reference: &str) -> Result<WaitingProposal, StoreError> {
    let stored = services.store.get_by(reference)?;
    let path = stored.path.clone();
    with_target(services, stored)?.ok_or_else(|| StoreError::Invalid {
        why: format!("{path} is not a proposal"),
    })
}

/// Returns the number of waiting proposals, and those that have been waiting for a long time.
///
/// Only proposals `within` these scopes count, if given. The services must not be restricted to a view, because an agent sees
/// no proposals of other agents.
///
/// # Errors
/// If the memories cannot be read.
pub fn proposal_summary(
    services: &Services,
    within: Option<&[Scope]>,
) -> Result<ProposalSummary, StoreError> {
    let waiting = waiting(services, within)?;
    let now = services.clock.now();
    Ok(ProposalSummary {
        waiting: waiting.len() as u64,
        oldest: waiting.first().map(|stored| stored.memory.created_at),
        overdue: waiting
            .into_iter()
            .filter(|stored| LONG_WAIT < now - stored.memory.created_at)
            .collect(),
    })
}

fn waiting(services: &Services, within: Option<&[Scope]>) -> Result<Vec<StoredMemory>, StoreError> {
    services.store.refresh()?;
    let filter = Filter {
        proposals: ProposalFilter::Only,
        within: within.map(<[Scope]>::to_vec),
        ..Filter::default()
    };
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: None,
    };
    let mut waiting = services
        .store
        .list(&filter, &slice, services.clock.now())?
        .memories;
    waiting.sort_by_key(|stored| (stored.memory.created_at, stored.memory.id));
    Ok(waiting)
}

fn with_target(
    services: &Services,
    stored: StoredMemory,
) -> Result<Option<WaitingProposal>, StoreError> {
    let Some(proposal) = stored.memory.proposal.clone() else {
        return Ok(None);
    };
    let target = match proposal.action {
        ProposedAction::Write => None,
        ProposedAction::Update(target) | ProposedAction::Delete(target) => {
            match services.store.get(&target.id) {
                Ok(found) => Some(found),
                Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
                Err(error) => return Err(error),
            }
        }
    };
    let is_stale = match (proposal.action.target(), &target) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(wanted), Some(found)) => !is_version(services, found, wanted.base)?,
    };
    Ok(Some(WaitingProposal {
        stored,
        proposal,
        target,
        is_stale,
    }))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContentHash, Draft, FileVersion, MemoryId};

    #[test]
    fn an_announcement_names_a_few_overdue_proposals_without_their_texts() {
        assert_eq!(ProposalSummary::default().announcement(), None);
        let stored = |number: usize| {
            let memory = Draft::new("secret").into_memory(
                MemoryId::for_path(&number.to_string()),
                DateTime::UNIX_EPOCH,
            );
            StoredMemory {
                memory,
                path: String::new(),
                stamp: FileVersion(ContentHash::of("")),
                problem: None,
                other_fields: Vec::new(),
            }
        };
        let summary = ProposalSummary {
            waiting: 9,
            oldest: None,
            overdue: (0..5).map(stored).collect(),
        };
        let text = summary.announcement().expect("a sentence");
        assert!(
            text.starts_with("9 proposals of agents wait for a review by the user in `memory inbox`; for more than a week: ")
        );
        assert!(
            text.ends_with(" and 2 more.") && !text.contains("secret"),
            "{text}"
        );
    }
}
