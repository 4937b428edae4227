//! Waiting proposals, and their state.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    Filter, ListOrder, MemoryStoreExt, PageRequest, Proposal, ProposalFilter, ProposedAction, Scope, Services, StoreError,
    StoredMemory,
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

/// Returns the waiting proposals, oldest first.
///
/// # Errors
/// If the memories cannot be read.
pub fn proposals(services: &Services) -> Result<Vec<WaitingProposal>, StoreError> {
    waiting(services, None)?.into_iter().filter_map(|stored| with_target(services, stored).transpose()).collect()
}

/// Returns the proposal that `reference` names.
///
/// # Errors
/// [`StoreError::Invalid`] if the memory is not a proposal; [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn proposal(services: &Services, reference: &str) -> Result<WaitingProposal, StoreError> {
    let stored = services.store.get_by(reference)?;
    let path = stored.path.clone();
    with_target(services, stored)?.ok_or_else(|| StoreError::Invalid { why: format!("{path} is not a proposal") })
}

/// Returns the number of waiting proposals, and those that have been waiting for a long time.
///
/// Only proposals `within` these scopes count, if given. The services must not be restricted to a view, because an agent sees
/// no proposals of other agents.
///
/// # Errors
/// If the memories cannot be read.
pub fn proposal_summary(services: &Services, within: Option<&[Scope]>) -> Result<ProposalSummary, StoreError> {
    let waiting = waiting(services, within)?;
    let overdue_since = services.clock.now() - LONG_WAIT;
    Ok(ProposalSummary {
        waiting: waiting.len() as u64,
        oldest: waiting.first().map(|stored| stored.memory.created_at),
        overdue: waiting.into_iter().filter(|stored| stored.memory.created_at < overdue_since).collect(),
    })
}

fn waiting(services: &Services, within: Option<&[Scope]>) -> Result<Vec<StoredMemory>, StoreError> {
    services.store.refresh()?;
    let filter = Filter { proposals: ProposalFilter::Only, within: within.map(<[Scope]>::to_vec), ..Filter::default() };
    let slice = PageRequest { order: ListOrder::Created, offset: 0, limit: None };
    let mut waiting = services.store.list(&filter, &slice, services.clock.now())?.memories;
    waiting.sort_by_key(|stored| (stored.memory.created_at, stored.memory.id));
    Ok(waiting)
}

fn with_target(services: &Services, stored: StoredMemory) -> Result<Option<WaitingProposal>, StoreError> {
    let Some(proposal) = stored.memory.proposal.clone() else { return Ok(None) };
    let target = match proposal.action {
        ProposedAction::Write => None,
        ProposedAction::Update(target) | ProposedAction::Delete(target) => match services.store.get(&target.id) {
            Ok(found) => Some(found),
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
            Err(error) => return Err(error),
        },
    };
    let is_base = |base| target.as_ref().is_some_and(|target| target.stamp == base);
    let is_stale = proposal.action.target().is_some_and(|wanted| !is_base(wanted.base));
    Ok(Some(WaitingProposal { stored, proposal, target, is_stale }))
}
