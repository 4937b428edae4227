//! The single entry point for changes, which checks them before they reach the store, and changes in units.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use crate::embed::embed_written;
use crate::secret::Checked;
use crate::{
    Change, ChangeOutcome, ChangeSet, Memory, MemoryId, OperationId, ReminderQuery, Services,
    StoreError, Verb,
};

/// The handling of a text that contains a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretPolicy {
    /// The text is refused.
    Refuse,
    /// The text is stored: the person allowed it, or it was stored before.
    Keep,
}

impl SecretPolicy {
    /// Returns the policy for a caller who allows credentials, or does not.
    pub const fn allowing(is_allowed: bool) -> Self {
        if is_allowed { Self::Keep } else { Self::Refuse }
    }
}

/// Number of attempts for a change that conflicts with another writer.
pub(crate) const ATTEMPTS: usize = 50;

/// Commits `set`; with [`SecretPolicy::Refuse`], fails if one of its texts contains a credential.
///
/// A text with a NUL character is always refused.
pub(crate) fn commit(
    services: &Services,
    set: &ChangeSet,
    secrets: SecretPolicy,
) -> Result<Vec<ChangeOutcome>, StoreError> {
    refuse_nul(set)?;
    let outcomes = commit_with_reminders(services, Checked::new(set, [], secrets)?)?;
    embed_written(services, set);
    Ok(outcomes)
}

/// Commits `set` and removes the open reminders of every memory that it removes.
fn commit_with_reminders(
    services: &Services,
    set: Checked<&ChangeSet>,
) -> Result<Vec<ChangeOutcome>, StoreError> {
    let own = set.into_inner();
    let mut whole = add_reminder_removals(services, own)?;
    for _ in 1..ATTEMPTS {
        match services.store.commit(set.map(|_| &*whole)) {
            Err(error @ StoreError::NotFound { .. }) => {
                // Another writer may have removed one of the reminders concurrently.
                let again = add_reminder_removals(services, own)?;
                if again.changes.len() == whole.changes.len() {
                    return Err(error);
                }
                whole = again;
            }
            done => {
                return done.map(|outcomes| outcomes.into_iter().take(set.changes.len()).collect());
            }
        }
    }
    services
        .store
        .commit(set.map(|_| &*whole))
        .map(|outcomes| outcomes.into_iter().take(set.changes.len()).collect())
}

fn add_reminder_removals<'o>(
    services: &Services,
    set: &'o ChangeSet,
) -> Result<Cow<'o, ChangeSet>, StoreError> {
    let mut orphans = Vec::new();
    for change in &set.changes {
        let Change::Remove { id, .. } = change else {
            continue;
        };
        let made_of_it = services
            .store
            .reminders(ReminderQuery::Of(*id), None, None)?
            .memories
            .into_iter();
        let open = made_of_it.filter(|stored| {
            stored
                .memory
                .reminder
                .as_ref()
                .is_some_and(crate::Reminder::is_open)
        });
        orphans.extend(open.map(|stored| (stored.memory.id, format!("it is a reminder of {id}"))));
    }
    if orphans.is_empty() {
        return Ok(Cow::Borrowed(set));
    }
    let named: HashSet<MemoryId> = set.changes.iter().map(Change::id).collect();
    let mut whole = set.clone();
    orphans.retain(|(id, _)| !named.contains(id));
    whole
        .changes
        .extend(orphans.iter().map(|(id, _)| Change::Remove {
            id: *id,
            expected: None,
        }));
    whole.reasons.extend(orphans);
    Ok(Cow::Owned(whole))
}

/// Returns why `text` cannot be stored, if it cannot.
///
/// A NUL character makes most programs treat a file as binary.
pub(crate) fn storage_obstacle(text: &str) -> Option<&'static str> {
    text.contains('\0')
        .then_some("it contains a NUL character, which a text file must not contain")
}

/// Fails if one of the texts of `set` contains a NUL character.
pub(crate) fn refuse_nul(set: &ChangeSet) -> Result<(), StoreError> {
    let is_text = |text: &str| storage_obstacle(text).is_none();
    if operation_texts(set).all(is_text) {
        return Ok(());
    }
    Err(StoreError::Invalid {
        why: "the text contains a NUL character, which a text file must not contain".into(),
    })
}

/// Iterates over all texts that `set` would write.
pub(crate) fn operation_texts(set: &ChangeSet) -> impl Iterator<Item = &str> {
    let memories = set.changes.iter().filter_map(Change::memory);
    let files = set
        .files
        .values()
        .flat_map(|file| [file.name.as_deref(), file.text.as_deref()])
        .flatten();
    memories.flat_map(memory_texts).chain(files)
}

/// Iterates over all texts of `memory` that a user, agent or import may have supplied.
pub(crate) fn memory_texts(memory: &Memory) -> impl Iterator<Item = &str> {
    let names = memory
        .tags
        .iter()
        .chain(&memory.aliases)
        .map(String::as_str);
    let origin = memory
        .origin
        .iter()
        .chain(&memory.other_origins)
        .flat_map(|origin| [&origin.source, &origin.root, &origin.path])
        .map(String::as_str);
    let texts = [memory.content.as_str(), memory.source.as_str()]
        .into_iter()
        .chain(memory.title.as_deref());
    texts.chain(memory.scope.name()).chain(names).chain(origin)
}

/// A unit of changes that was not made because another writer changed or removed one of its memories.
#[derive(Debug)]
#[non_exhaustive]
pub struct RefusedUnit {
    /// The index of the unit.
    pub unit: usize,
    /// The conflict.
    pub error: StoreError,
}

/// Commits units of changes as one operation, and returns the units that were refused.
///
/// A unit is refused if another writer has changed or removed one of its memories. Without a conflict all units share
/// one sync; with one, the units are bisected. Texts with credentials are allowed: they were stored before, or are
/// already redacted.
pub(crate) fn commit_units(
    services: &Services,
    set: &ChangeSet,
    units: Vec<Vec<Change>>,
) -> Result<Vec<RefusedUnit>, StoreError> {
    let mut refused = Vec::new();
    commit_bisected(services, set, 0, units, &mut refused)?;
    Ok(refused)
}

fn commit_bisected(
    services: &Services,
    set: &ChangeSet,
    first: usize,
    mut units: Vec<Vec<Change>>,
    refused: &mut Vec<RefusedUnit>,
) -> Result<(), StoreError> {
    if units.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let borders: Vec<usize> = units.iter().map(Vec::len).collect();
    let whole = ChangeSet {
        changes: units.into_iter().flatten().collect(),
        ..set.clone()
    };
    match commit(services, &whole, SecretPolicy::Keep) {
        Ok(_) => Ok(()),
        Err(error @ (StoreError::Conflict { .. } | StoreError::NotFound { .. }))
            if borders.len() == 1 =>
        {
            refused.push(RefusedUnit { unit: first, error });
            Ok(())
        }
        Err(StoreError::Conflict { .. } | StoreError::NotFound { .. }) => {
            let mut changes = whole.changes.into_iter();
            units = borders
                .into_iter()
                .map(|length| changes.by_ref().take(length).collect())
                .collect();
            let rest = units.split_off(units.len() / 2);
            let middle = first + units.len();
            commit_bisected(services, set, first, units, refused)?;
            commit_bisected(services, set, middle, rest, refused)
        }
        Err(error) => Err(error),
    }
}

/// Repeats `attempt` while it conflicts with another writer, up to [`ATTEMPTS`] times.
pub(crate) fn retry_conflicts<T>(
    mut attempt: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(StoreError::Conflict { .. }) => {}
            done => return done,
        }
    }
    attempt()
}

/// Changes that are made together or not at all.
#[derive(Debug, Clone, Default)]
pub struct RefinementUnit {
    /// The changes.
    pub changes: Vec<Change>,
    /// Reasons for changes that the verb does not explain.
    pub reasons: BTreeMap<MemoryId, String>,
}

/// An operation of multiple units, with one journal entry and one `undo`.
#[derive(Debug)]
pub struct Refinement<'s> {
    services: &'s Services,
    operation: ChangeSet,
    has_changed: bool,
}

impl<'s> Refinement<'s> {
    /// Returns a new operation without changes.
    pub fn new(services: &'s Services, verb: Verb) -> Self {
        Self {
            services,
            operation: services.change_set(verb),
            has_changed: false,
        }
    }

    /// Returns the id in the journal.
    pub fn id(&self) -> &OperationId {
        &self.operation.operation.id
    }

    /// Returns whether anything was changed so far.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Commits `units` and returns those that were refused.
    ///
    /// A unit is refused if another writer has changed or removed one of its memories since the unit was computed.
    /// Without a conflict all units share one sync. The texts must come from stored memories, because they are not
    /// checked for credentials.
    ///
    /// # Errors
    /// Any other error of the store. Some of the units may then be committed.
    pub fn commit(&mut self, units: Vec<RefinementUnit>) -> Result<Vec<RefusedUnit>, StoreError> {
        self.operation.operation.at = self.services.clock.now();
        let mut all = Vec::with_capacity(units.len());
        let mut reasons = BTreeMap::new();
        for unit in units {
            reasons.extend(unit.reasons);
            all.push(unit.changes);
        }
        let operation = ChangeSet {
            reasons,
            ..self.operation.clone()
        };
        let wanted = all.iter().filter(|unit| !unit.is_empty()).count();
        let refused = commit_units(self.services, &operation, all)?;
        self.has_changed |= refused.len() < wanted;
        Ok(refused)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::secret;
    use crate::testing::services;
    use crate::{
        Code, Draft, ExportedMemory, ImportSummary, MemStore, MemoryStoreExt, Origin, Patch, Scope,
        Tags, import, update, write,
    };

    /// Returns drafts that contain a credential, each in a different field.
    fn drafts() -> Vec<Draft> {
        let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8");
        let tags: Tags = [token.clone()].into_iter().collect();
        let part = |own: &str| {
            if own == "x" {
                token.clone()
            } else {
                "x".to_owned()
            }
        };
        let origin = |[source, root, path]: [&str; 3]| Origin {
            source: part(source),
            root: part(root),
            path: part(path),
            hash: None,
        };
        let empty = || Draft::new("tea");
        let mut drafts = vec![
            Draft {
                content: format!("tea {token}"),
                ..empty()
            },
            Draft {
                title: Some(token.clone()),
                ..empty()
            },
            Draft {
                aliases: vec![token.clone()],
                ..empty()
            },
            Draft { tags, ..empty() },
            Draft {
                source: token.clone(),
                ..empty()
            },
        ];
        let scopes = [
            Scope::Agent(token.clone()),
            Scope::Project(token.clone()),
            Scope::Conversation(token.clone()),
        ];
        drafts.extend(scopes.map(|scope| Draft { scope, ..empty() }));
        let origins = [["x", "", ""], ["", "x", ""], ["", "", "x"]].map(origin);
        drafts.extend(origins.map(|origin| Draft {
            origin: Some(origin),
            ..empty()
        }));
        drafts
    }

    fn import_one(services: &Services, draft: &Draft, secrets: SecretPolicy) -> ImportSummary {
        let line = Ok(("line 1".to_owned(), ExportedMemory::from(draft.clone())));
        import(services, [line].into_iter(), secrets, &mut |_| ()).expect("an import")
    }

    #[test]
    fn a_credential_is_refused_wherever_in_a_memory_it_stands() {
        for draft in drafts() {
            let services = services(Arc::new(MemStore::default()));
            let refused =
                write(&services, draft.clone(), SecretPolicy::Refuse).expect_err("it is refused");
            assert_eq!(refused.code(), Code::SecretFound, "{draft:?}");
            let skipped = import_one(&services, &draft, SecretPolicy::Refuse).skipped;
            assert_eq!(skipped.len(), 1, "{draft:?}");
            assert_eq!(
                skipped[0].reason,
                "it seems to contain a credential (GitHub token); --allow-secret stores it anyway"
            );
            let id = write(&services, Draft::new("cake"), SecretPolicy::Refuse)
                .expect("it is kept")
                .id
                .to_string();
            let Draft {
                title,
                aliases,
                tags,
                source,
                scope,
                origin,
                content,
                ..
            } = draft.clone();
            let title = title.map(Some);
            let (content, source) = (Some(content), Some(source));
            let patch = Patch {
                title,
                aliases: Some(aliases),
                add_tags: tags,
                origin,
                ..Patch::default()
            };
            let patch = Patch {
                content,
                source,
                scope: Some(scope),
                ..patch
            };
            let refused = update(&services, &id, &patch, None, SecretPolicy::Refuse)
                .expect_err("it is refused");
            assert_eq!(refused.code(), Code::SecretFound, "{draft:?}");
            assert_eq!(
                import_one(&services, &draft, SecretPolicy::Keep).new,
                1,
                "{draft:?}"
            );
        }
    }

    #[test]
    fn what_changes_one_field_alone_brings_no_credential_in() {
        let services = services(Arc::new(MemStore::default()));
        let id = write(&services, Draft::new("cake"), SecretPolicy::Refuse)
            .expect("it is kept")
            .id
            .to_string();
        for Draft {
            title,
            aliases,
            source,
            scope,
            origin,
            ..
        } in drafts()
        {
            let patches = [
                Patch {
                    title: Some(title),
                    ..Patch::default()
                },
                Patch {
                    aliases: Some(aliases),
                    ..Patch::default()
                },
                Patch {
                    source: Some(source),
                    ..Patch::default()
                },
                Patch {
                    scope: Some(scope),
                    ..Patch::default()
                },
                Patch {
                    origin,
                    ..Patch::default()
                },
            ];
            for patch in patches {
                // A patch fails if it contains the credential; the others change nothing relevant.
                let _ = update(&services, &id, &patch, None, SecretPolicy::Refuse);
            }
        }
        let kept = services.store.get_by(&id).expect("it is there").memory;
        assert_eq!(
            memory_texts(&kept).flat_map(secret::find).count(),
            0,
            "{kept:?}"
        );
    }
}
