//! Marks the memories that a newer one supersedes.

use chrono::{DateTime, Utc};

use crate::{Change, ChangeSet, Memory, MemoryId, Patch, Services, StoreError};

/// Adds the changes that mark `older` as superseded by `newer`, which the same set creates or replaces.
///
/// # Errors
/// [`StoreError::Invalid`] if `newer` is itself superseded, [`StoreError::NotFound`] and [`StoreError::Damaged`].
pub(crate) fn add_superseded(
    services: &Services,
    newer: &Memory,
    older: &[MemoryId],
    set: &mut ChangeSet,
) -> Result<(), StoreError> {
    if newer.is_proposal() || older.is_empty() {
        return Ok(());
    }
    // Otherwise two memories could supersede each other, and no one would see either.
    if let Some(id) = newer.superseded_by {
        return Err(StoreError::Invalid {
            why: format!(
                "{} is itself superseded by {}",
                newer.id.short(),
                id.short()
            ),
        });
    }
    for id in older {
        if let Some(change) = mark_superseded(services, *id, newer, set.operation.at)? {
            set.reasons
                .insert(*id, format!("superseded by {}", newer.id));
            set.changes.push(change);
        }
    }
    Ok(())
}

/// Returns the change that marks a memory as superseded; `None` if another one supersedes it already.
pub(crate) fn mark_superseded(
    services: &Services,
    id: MemoryId,
    newer: &Memory,
    at: DateTime<Utc>,
) -> Result<Option<Change>, StoreError> {
    let stored = services.store.get(&id)?;
    let older = &stored.memory;
    if older.superseded_by.is_some() || older.id == newer.id {
        return Ok(None);
    }
    let end = newer.created_at.max(older.created_at);
    let patch = Patch {
        superseded_by: Some(Some(newer.id)),
        valid_until: Some(Some(older.valid_until.map_or(end, |until| until.min(end)))),
        ..Patch::default()
    };
    Ok(patch.apply(older, at).map(|memory| Change::Replace {
        expected: stored.stamp,
        memory: Box::new(memory),
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::testing::services;
    use crate::{
        AcceptOptions, AgentName, Code, Draft, MemStore, MemoryId, Patch, ReviewPolicy,
        SecretPolicy, Services, StaleProposals, StoreError, View, WritePolicy, accept, undo,
        update, write,
    };

    fn put(services: &Services, text: &str, supersedes: &[MemoryId]) -> MemoryId {
        let draft = Draft {
            supersedes: supersedes.to_vec(),
            ..Draft::new(text)
        };
        let written = write(services, draft, SecretPolicy::Refuse).expect("it is written");
        written.id
    }

    fn superseded_by(services: &Services, id: MemoryId) -> Option<MemoryId> {
        services
            .store
            .get(&id)
            .expect("it is there")
            .memory
            .superseded_by
    }

    fn supersede(services: &Services, id: MemoryId, older: MemoryId) -> Result<(), StoreError> {
        let patch = Patch {
            supersedes: vec![older],
            ..Patch::default()
        };
        let done = update(
            services,
            &id.to_string(),
            &patch,
            None,
            SecretPolicy::Refuse,
        );
        done.map(drop)
    }

    #[test]
    fn a_write_or_an_update_marks_the_older_memory_in_one_operation() {
        let services = services(Arc::new(MemStore::default()));
        let (port, host) = (
            put(&services, "The port is 80", &[]),
            put(&services, "The host is a", &[]),
        );
        let new = put(&services, "The port is 81", &[port]);
        assert_eq!(superseded_by(&services, port), Some(new));
        undo(&services, None).expect("it is undone");
        assert_eq!(superseded_by(&services, port), None);
        let new = put(&services, "The port is 82", &[]);
        supersede(&services, new, port).expect("it is updated");
        assert_eq!(superseded_by(&services, port), Some(new));
        // A text that exists already supersedes, too.
        assert_eq!(put(&services, "the port is 82.", &[host]), new);
        assert_eq!(superseded_by(&services, host), Some(new));
    }

    #[test]
    fn memories_never_supersede_each_other() {
        let services = services(Arc::new(MemStore::default()));
        let old = put(&services, "The port is 80", &[]);
        let new = put(&services, "The port is 81", &[old]);
        let error = supersede(&services, old, new).expect_err("the new one supersedes it");
        assert_eq!(error.code(), Code::InvalidInput);
        supersede(&services, new, new).expect("it changes nothing");
        assert_eq!(superseded_by(&services, new), None);
    }

    #[test]
    fn a_proposal_supersedes_when_it_is_accepted() {
        let person = Services {
            review: ReviewPolicy {
                default: WritePolicy::Propose,
                rules: Vec::new(),
            },
            ..services(Arc::new(MemStore::default()))
        };
        let old = put(&person, "The port is 80", &[]);
        let agent = person.restrict_to(&View {
            agent: Some("codex".parse::<AgentName>().expect("a name")),
            ..View::default()
        });
        let draft = Draft {
            supersedes: vec![old],
            ..Draft::new("The port is 81")
        };
        let written = write(&agent, draft, SecretPolicy::Refuse).expect("it is proposed");
        let new = written.id;
        assert_eq!(
            (superseded_by(&person, old), written.superseded),
            (None, Vec::new())
        );
        assert_eq!(
            agent.proposals.take().len(),
            1,
            "the older memory is no proposal of its own"
        );
        let options = AcceptOptions {
            category: None,
            stale: StaleProposals::Refuse,
            secrets: SecretPolicy::Refuse,
            expected: None,
        };
        let accepted = accept(&person, &new.to_string(), options).expect("it is accepted");
        assert_eq!(superseded_by(&person, old), Some(accepted.id));
    }
}
