//! Turns the changes of an agent into proposals where the policy demands a review.

use std::collections::HashSet;

use super::ScopedStore;
use crate::review::is_rejected;
use crate::{
    Change, ChangeOutcome, ChangeSet, ContentHash, Duplicates, Filter, Memory, MemoryId, Phase,
    Proposal, ProposalFilter, ProposalTarget, ProposedAction, Scope, StoreError, StoredMemory,
    SubmittedProposal, Verb, WritePolicy,
};

/// A change set with proposals in place of the changes that need a review.
pub(super) struct ReviewedSet {
    /// The changes to commit.
    pub(super) set: ChangeSet,
    /// The origin of the outcome of each requested change.
    outcomes: Vec<OutcomeSource>,
}

/// The origin of the outcome of a requested change.
enum OutcomeSource {
    /// The next change to commit.
    Change,
    /// The next change to commit, which creates a proposal; the outcome is that of the requested change, or of a new memory.
    Proposal(SubmittedProposal, Option<ChangeOutcome>),
    /// No change to commit.
    Known(ChangeOutcome, Option<SubmittedProposal>),
}

impl ReviewedSet {
    /// Converts the outcomes of the committed changes, and returns the proposals as well.
    pub(super) fn outcomes(
        self,
        committed: Vec<ChangeOutcome>,
    ) -> (Vec<ChangeOutcome>, Vec<SubmittedProposal>) {
        let (mut committed, mut proposals, mut outcomes) =
            (committed.into_iter(), Vec::new(), Vec::new());
        for source in self.outcomes {
            match source {
                OutcomeSource::Change => outcomes.extend(committed.next()),
                OutcomeSource::Proposal(proposal, requested) => {
                    let Some(outcome) = committed.next() else {
                        continue;
                    };
                    // A memory with the text of a new one exists already: nothing was proposed.
                    if !matches!(outcome, ChangeOutcome::Duplicate { .. }) {
                        proposals.push(proposal);
                    }
                    outcomes.push(requested.unwrap_or(outcome));
                }
                OutcomeSource::Known(outcome, proposal) => {
                    proposals.extend(proposal);
                    outcomes.push(outcome);
                }
            }
        }
        (outcomes, proposals)
    }
}

impl ScopedStore {
    /// Replaces the changes in `checked` that need a review by proposals.
    ///
    /// `former` are the current versions of the memories that are replaced or removed, in the order of the changes.
    pub(super) fn review(
        &self,
        checked: ChangeSet,
        former: &[Option<StoredMemory>],
    ) -> Result<ReviewedSet, StoreError> {
        let mut reviewed = ReviewedSet {
            set: ChangeSet {
                changes: Vec::new(),
                ..checked.clone()
            },
            outcomes: Vec::new(),
        };
        let (mut changed, mut deletions) = (HashSet::new(), HashSet::new());
        let mut waiting = None;
        // Links go both ways, and half of one must not take effect.
        let is_link = matches!(checked.operation.verb, Verb::Link | Verb::Unlink);
        let is_reviewed_link = is_link
            && former
                .iter()
                .flatten()
                .any(|before| self.needs_review(&before.memory.scope));
        for (change, before) in checked.changes.into_iter().zip(former) {
            let id = change.id();
            if let (Change::Remove { .. }, Some(before)) = (&change, before)
                && before
                    .memory
                    .reminder
                    .as_ref()
                    .and_then(|reminder| reminder.of)
                    .is_some_and(|of| deletions.contains(&of))
            {
                // The acceptance of a deletion removes the reminders of the memory.
                let outcome = ChangeOutcome::Removed {
                    id,
                    path: before.path.clone(),
                };
                reviewed.outcomes.push(OutcomeSource::Known(outcome, None));
                continue;
            }
            if let (Change::Replace { memory, .. }, Some(before)) = (&change, before)
                && memory.superseded_by != before.memory.superseded_by
                && memory
                    .superseded_by
                    .is_some_and(|newer| changed.contains(&newer))
            {
                // The acceptance of the newer memory marks the older one as superseded.
                let path = before.path.clone();
                let outcome = ChangeOutcome::Kept { id, path };
                reviewed.outcomes.push(OutcomeSource::Known(outcome, None));
                continue;
            }
            let (proposal, requested) = match self.plan(
                change,
                before.as_ref(),
                checked.operation.verb,
                is_reviewed_link,
            )? {
                Plan::Commit(change) => {
                    reviewed.set.changes.push(change);
                    reviewed.outcomes.push(OutcomeSource::Change);
                    continue;
                }
                Plan::Propose(memory, requested) => (memory, requested),
            };
            if let Some((before, requested)) = before.as_ref().zip(requested.clone())
                && is_other_end(&proposal, &before.memory, &changed)
            {
                reviewed
                    .outcomes
                    .push(OutcomeSource::Known(requested, None));
                continue;
            }
            changed.insert(id);
            if matches!(requested, Some(ChangeOutcome::Removed { .. })) {
                deletions.insert(id);
            }
            let action = proposal
                .proposal
                .as_ref()
                .map_or(ProposedAction::Write, |proposal| proposal.action);
            let fingerprint = action.fingerprint(&proposal);
            let same = self.waiting_proposal(&mut waiting, &fingerprint, &proposal.scope)?;
            if let Some((id, path)) = same {
                let outcome = requested.unwrap_or(ChangeOutcome::Duplicate { id, path });
                reviewed.outcomes.push(OutcomeSource::Known(
                    outcome,
                    Some(SubmittedProposal {
                        id,
                        action,
                        is_new: false,
                    }),
                ));
                continue;
            }
            self.refuse_rejected(&fingerprint)?;
            if requested.is_some() {
                // The text of a changed memory exists already.
                reviewed.set.duplicates = Duplicates::Keep;
            }
            let submitted = SubmittedProposal {
                id: proposal.id,
                action,
                is_new: true,
            };
            reviewed.set.changes.push(Change::Create {
                memory: proposal,
                front_matter: String::new(),
            });
            reviewed
                .outcomes
                .push(OutcomeSource::Proposal(submitted, requested));
        }
        let is_all_proposed = reviewed
            .outcomes
            .iter()
            .all(|source| !matches!(source, OutcomeSource::Change));
        if is_all_proposed {
            reviewed.set.operation.verb = Verb::Propose;
        }
        Ok(reviewed)
    }

    /// Plans one change. With `is_reviewed`, a replacement needs a review in every scope.
    fn plan(
        &self,
        change: Change,
        before: Option<&StoredMemory>,
        verb: Verb,
        is_reviewed: bool,
    ) -> Result<Plan, StoreError> {
        let is_own = before.is_some_and(|before| before.memory.is_proposal());
        match change {
            Change::Create {
                mut memory,
                front_matter,
            } => {
                memory.proposal = None;
                if !self.needs_review(&memory.scope) {
                    return Ok(Plan::Commit(Change::Create {
                        memory,
                        front_matter,
                    }));
                }
                memory.proposal = Some(self.proposal(ProposedAction::Write));
                memory.phase = Phase::Inbox;
                Ok(Plan::Propose(memory, None))
            }
            Change::Replace {
                expected,
                mut memory,
            } => {
                // No view contains the proposals of other agents. The person may be looking at the text.
                if is_own {
                    let why =
                        "a waiting proposal cannot be changed; delete it, and propose the new text"
                            .into();
                    return Err(StoreError::Invalid { why });
                }
                memory.proposal = None;
                let needs_review = is_reviewed
                    || self.needs_review(&memory.scope)
                    || before.is_some_and(|own| self.needs_review(&own.memory.scope));
                // The record that a reminder was shown is no change of its content.
                if !needs_review || verb == Verb::Notify {
                    return Ok(Plan::Commit(Change::Replace { expected, memory }));
                }
                let path = before.map(|before| before.path.clone()).unwrap_or_default();
                let target = ProposalTarget {
                    id: memory.id,
                    base: expected,
                };
                Ok(Plan::Propose(
                    self.change_proposal(&memory, ProposedAction::Update(target)),
                    Some(ChangeOutcome::Kept {
                        id: target.id,
                        path,
                    }),
                ))
            }
            Change::Remove { id, expected } => match before {
                Some(before) if !is_own && self.needs_review(&before.memory.scope) => {
                    let target = ProposalTarget {
                        id,
                        base: before.stamp,
                    };
                    Ok(Plan::Propose(
                        self.change_proposal(&before.memory, ProposedAction::Delete(target)),
                        Some(ChangeOutcome::Removed {
                            id,
                            path: before.path.clone(),
                        }),
                    ))
                }
                _ => Ok(Plan::Commit(Change::Remove { id, expected })),
            },
        }
    }

    /// Returns whether changes of memories in `scope` by this agent need a review.
    pub(in crate::view) fn needs_review(&self, scope: &Scope) -> bool {
        self.policy.decide(self.agent.as_ref(), scope) == WritePolicy::Propose
    }

    fn proposal(&self, action: ProposedAction) -> Proposal {
        Proposal {
            by: self.actor.clone(),
            action,
        }
    }

    fn change_proposal(&self, memory: &Memory, action: ProposedAction) -> Box<Memory> {
        let now = self.clock.now();
        Box::new(Memory {
            id: self.ids.memory_id(),
            phase: Phase::Inbox,
            created_at: now,
            updated_at: now,
            access_count: 0,
            version: 1,
            summarised_by: None,
            origin: None,
            other_origins: Vec::new(),
            proposal: Some(self.proposal(action)),
            ..memory.clone()
        })
    }

    fn refuse_rejected(&self, fingerprint: &ContentHash) -> Result<(), StoreError> {
        if is_rejected(self.history.as_ref(), fingerprint)? {
            Err(StoreError::ProposalRejected)
        } else {
            Ok(())
        }
    }

    /// Returns the id and path of a waiting proposal of the same change by this agent. `waiting` caches its proposals.
    ///
    /// Those of other agents do not count, because their agents can withdraw them.
    fn waiting_proposal(
        &self,
        waiting: &mut Option<Vec<(ContentHash, Scope, MemoryId, String)>>,
        fingerprint: &ContentHash,
        scope: &Scope,
    ) -> Result<Option<(MemoryId, String)>, StoreError> {
        if waiting.is_none() {
            let filter = Filter {
                proposals: ProposalFilter::Only,
                within: Some(self.scopes.clone()),
                ..Filter::default()
            };
            let mut known = Vec::new();
            for stored in self.store.memories(&filter, self.clock.now()) {
                let StoredMemory { memory, path, .. } = stored?;
                let Some(Proposal { action, .. }) = memory
                    .proposal
                    .as_ref()
                    .filter(|proposal| proposal.by == self.actor)
                else {
                    continue;
                };
                known.push((
                    action.fingerprint(&memory),
                    memory.scope.clone(),
                    memory.id,
                    path,
                ));
            }
            *waiting = Some(known);
        }
        let mut known = waiting.iter().flatten();
        let same = known.find(|(own, own_scope, ..)| own == fingerprint && own_scope == scope);
        Ok(same.map(|(.., id, path)| (*id, path.clone())))
    }
}

/// The treatment of one change.
enum Plan {
    /// The change takes effect.
    Commit(Change),
    /// The memory is stored as a proposal. The outcome is that of the requested change; `None` for a new memory.
    Propose(Box<Memory>, Option<ChangeOutcome>),
}

/// Returns whether a change only adds or removes the other ends of links of earlier proposals of the operation.
///
/// Links go both ways, so the acceptance of the earlier proposal changes both ends.
fn is_other_end(proposed: &Memory, before: &Memory, changed: &HashSet<MemoryId>) -> bool {
    let content = |memory: &Memory| {
        let Memory {
            content,
            title,
            aliases,
            tags,
            category,
            scope,
            ..
        } = memory.clone();
        let Memory {
            expires_at,
            superseded_by,
            pinned,
            reminder,
            valid_until,
            ..
        } = memory.clone();
        (
            (content, title, aliases, tags, category, scope),
            (expires_at, superseded_by, pinned, reminder, valid_until),
        )
    };
    let added = proposed
        .links
        .iter()
        .filter(|id| !before.links.contains(id));
    let mut ends = added.chain(
        before
            .links
            .iter()
            .filter(|id| !proposed.links.contains(id)),
    );
    proposed.links != before.links
        && content(proposed) == content(before)
        && ends.all(|id| changed.contains(id))
}
