//! The subject of a recorded operation: how proposals ended, and the memories that an operation on proposals is about.

use crate::{
    Acceptance, Memory, MemoryId, ProposedAction, Recorded, RecordedChange, Services, StoreError,
    Verb,
};

/// How a proposal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalEnd {
    /// A person accepted it.
    Accepted,
    /// A person rejected it.
    Rejected,
    /// It was removed without a decision: its agent deleted it, or its creation was undone.
    Withdrawn,
}

/// Returns how the proposal `id` ended; `None` if it still waits, or if the memory was no proposal.
///
/// After a purge of its file, only a rejection is known.
///
/// # Errors
/// If the journal cannot be read.
pub fn proposal_end(services: &Services, id: &MemoryId) -> Result<Option<ProposalEnd>, StoreError> {
    let changes = services
        .history
        .changes_to(id)
        .collect::<Result<Vec<_>, _>>()?;
    let Some(last) = changes
        .iter()
        .find(|change| !change.subject.is_placeholder())
    else {
        return Ok(None);
    };
    if last.subject.after.is_some() {
        return Ok(None);
    }
    let end = match repeated_verb(last, &changes) {
        Some(Verb::Accept) => ProposalEnd::Accepted,
        Some(Verb::Reject) => ProposalEnd::Rejected,
        _ => ProposalEnd::Withdrawn,
    };
    Ok(match former_version(services, &last.subject) {
        Some(former) => Some(end).filter(|_| former.is_proposal()),
        None => Some(end).filter(|end| *end == ProposalEnd::Rejected),
    })
}

/// Returns the verb of an operation, or that of the operation which it repeats as the undo of an undo; `None` for another undo.
fn repeated_verb(
    change: &Recorded<RecordedChange>,
    all: &[Recorded<RecordedChange>],
) -> Option<Verb> {
    let undone = |change: &Recorded<RecordedChange>| {
        all.iter()
            .find(|other| Some(&other.operation.id) == change.undoes.as_ref())
    };
    let mut change = change;
    while change.operation.verb == Verb::Undo {
        let other = undone(change)?;
        if other.operation.verb != Verb::Undo {
            return None;
        }
        change = undone(other)?;
    }
    Some(change.operation.verb)
}

/// The memories that an operation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationSubject {
    /// The changes without that of the proposal or note which an acceptance, or its undo, only removes or returns.
    pub changes: Vec<RecordedChange>,
    /// The effect, if the operation is an acceptance or a merge.
    pub acceptance: Option<Acceptance>,
}

/// Returns the subject of an operation with this verb and these changes.
///
/// A file that is no longer in the trash counts as a memory.
pub fn operation_subject(
    services: &Services,
    verb: Verb,
    changes: &[RecordedChange],
) -> OperationSubject {
    let mut subject = OperationSubject {
        changes: changes.to_vec(),
        acceptance: None,
    };
    let removed = |change: &RecordedChange| {
        former_version(services, change).filter(|_| change.after.is_none())
    };
    let item = match verb {
        Verb::Accept => {
            let mut removals: Vec<_> = changes
                .iter()
                .enumerate()
                .filter_map(|(at, change)| Some((at, removed(change)?)))
                .collect();
            // The deleted memory may itself be a note of the inbox.
            removals.sort_by_key(|(_, former)| !former.is_proposal());
            let decided = removals.into_iter().next();
            subject.acceptance = match decided.as_ref().map(|(_, former)| former.proposal.as_ref())
            {
                Some(proposal) => Some(match proposal.map(|proposal| proposal.action) {
                    Some(ProposedAction::Update(_)) => Acceptance::Updated,
                    Some(ProposedAction::Delete(_)) => Acceptance::Deleted,
                    Some(ProposedAction::Write) | None => Acceptance::Merged,
                }),
                None => Some(Acceptance::Written).filter(|_| !changes.is_empty()),
            };
            decided.map(|(at, _)| at)
        }
        Verb::Merge => {
            subject.acceptance = Some(Acceptance::Merged);
            // The changes are listed last change first. Those of links follow that of the memory with the text of both.
            if let Some(target) = changes.iter().rposition(|change| change.after.is_some()) {
                subject.changes = vec![changes[target].clone()];
                return subject;
            }
            None
        }
        Verb::Undo => changes
            .iter()
            .position(|change| change.before.is_none() && is_waiting(services, &change.id)),
        _ => None,
    };
    // Without any other change, the operation is about the proposal itself.
    if let Some(at) = item.filter(|_| 1 < changes.len()) {
        subject.changes.remove(at);
    }
    subject
}

/// Returns the version before a change, if it is in the trash and can be read.
fn former_version(services: &Services, change: &RecordedChange) -> Option<Memory> {
    services
        .history
        .memory_in_trash(change.before.as_ref()?.trash.as_deref()?)
        .ok()
}

fn is_waiting(services: &Services, id: &MemoryId) -> bool {
    services
        .store
        .get(id)
        .is_ok_and(|stored| stored.memory.is_proposal())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{
        AcceptOptions, AgentName, Draft, MemStore, MergeOptions, Patch, ReviewPolicy, SecretPolicy,
        StaleProposals, View, WritePolicy, accept, delete, merge, reject, undo, update, write,
    };

    const OPTIONS: AcceptOptions = AcceptOptions {
        category: None,
        stale: StaleProposals::Refuse,
        secrets: SecretPolicy::Refuse,
        expected: None,
    };

    /// Returns the services of a person and of an agent whose changes need a review.
    fn home() -> (Services, Services) {
        let person = services(Arc::new(MemStore::default()));
        let review = ReviewPolicy {
            default: WritePolicy::Propose,
            rules: Vec::new(),
        };
        let agent = Some("codex".parse::<AgentName>().expect("a name"));
        let codex = Services {
            review,
            ..person.clone()
        }
        .restrict_to(&View {
            agent,
            project: None,
            ..View::default()
        });
        (person, codex)
    }

    fn put(services: &Services, text: &str) -> MemoryId {
        write(services, Draft::new(text), SecretPolicy::Refuse)
            .expect("written")
            .id
    }

    /// Returns the ids of the memories that the last operation is about, and the effect of the acceptance.
    fn last_subject(services: &Services) -> (Vec<MemoryId>, Option<Acceptance>) {
        let last = services
            .history
            .records()
            .next()
            .expect("an operation")
            .expect("it can be read");
        let changes: Vec<_> = services
            .history
            .changes(&last.operation.id)
            .map(|change| change.expect("it can be read"))
            .collect();
        let subject = operation_subject(services, last.operation.verb, &changes);
        (
            subject.changes.iter().map(|change| change.id).collect(),
            subject.acceptance,
        )
    }

    #[test]
    fn an_acceptance_is_about_the_memory_and_not_about_the_proposal() {
        let (person, codex) = home();
        let [harbour, pier] =
            ["the harbour opens at six", "the pier is closed"].map(|text| put(&person, text));
        let patch = Patch {
            content: Some("the harbour opens at seven".into()),
            ..Patch::default()
        };
        update(
            &codex,
            &harbour.to_string(),
            &patch,
            None,
            SecretPolicy::Refuse,
        )
        .expect("proposed");
        delete(&codex, &pier.to_string()).expect("proposed");
        let proposed: Vec<_> = codex
            .proposals
            .take()
            .into_iter()
            .map(|proposal| proposal.id)
            .collect();
        accept(&person, &proposed[0].to_string(), OPTIONS).expect("accepted");
        assert_eq!(
            last_subject(&person),
            (vec![harbour], Some(Acceptance::Updated))
        );
        accept(&person, &proposed[1].to_string(), OPTIONS).expect("accepted");
        assert_eq!(
            last_subject(&person),
            (vec![pier], Some(Acceptance::Deleted))
        );
        undo(&person, None).expect("undone");
        assert_eq!(
            last_subject(&person),
            (vec![pier], None),
            "the undo restores the memory"
        );
        let [new, other] = ["the ferry is late", "the ferry is full"].map(|text| put(&codex, text));
        accept(&person, &new.to_string(), OPTIONS).expect("accepted");
        assert_eq!(
            last_subject(&person),
            (vec![new], Some(Acceptance::Written))
        );
        merge(
            &person,
            &other.to_string(),
            &new.to_string(),
            MergeOptions::default(),
            SecretPolicy::Refuse,
        )
        .expect("merged");
        assert_eq!(last_subject(&person), (vec![new], Some(Acceptance::Merged)));
    }

    #[test]
    fn a_proposal_ends_by_a_decision_or_is_withdrawn_and_a_memory_has_no_end() {
        let (person, codex) = home();
        let end = |id: &MemoryId| proposal_end(&person, id).expect("it is known");
        let [accepted, rejected, withdrawn, merged] =
            ["one", "two", "three", "four"].map(|text| put(&codex, text));
        let memory = put(&person, "a memory");
        assert_eq!(end(&rejected), None, "it waits");
        accept(&person, &accepted.to_string(), OPTIONS).expect("accepted");
        reject(&person, &rejected.to_string(), None).expect("rejected");
        delete(&codex, &withdrawn.to_string()).expect("deleted");
        merge(
            &person,
            &merged.to_string(),
            &memory.to_string(),
            MergeOptions::default(),
            SecretPolicy::Refuse,
        )
        .expect("merged");
        assert_eq!(end(&accepted), None, "it is a memory now");
        assert_eq!(end(&rejected), Some(ProposalEnd::Rejected));
        assert_eq!(end(&withdrawn), Some(ProposalEnd::Withdrawn));
        assert_eq!(end(&merged), Some(ProposalEnd::Accepted));
        undo(&person, None).expect("the merge is undone");
        assert_eq!(end(&merged), None, "it waits again");
        let last = person
            .history
            .records()
            .next()
            .expect("an operation")
            .expect("it can be read");
        undo(&person, Some(last.operation.id.as_str())).expect("the undo is undone");
        assert_eq!(
            end(&merged),
            Some(ProposalEnd::Accepted),
            "the merge is repeated"
        );
        delete(&person, &memory.to_string()).expect("deleted");
        assert_eq!(end(&memory), None);
        undo(&person, None).expect("the deletion is undone");
        assert_eq!(end(&memory), None);
    }
}
