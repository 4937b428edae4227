//! The history of one memory: its recorded changes, with its versions before and after each.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::review::decide::is_version;
use crate::undo::is_current_state;
use crate::{
    ContentHash, FileVersion, Memory, MemoryId, Operation, OperationId, Recorded, RecordedChange,
    RecordedFile, Services, StoreError, StoredMemory, UndoObstacle, operation_subject,
    undo_obstacle,
};

/// The changes of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryHistory {
    /// The changes, newest first.
    pub steps: Vec<MemoryStep>,
    /// Whether there are older changes.
    pub has_more: bool,
}

impl MemoryHistory {
    /// Returns the version at a time if a later change replaced it; `None` if it is the current version, or is unknown.
    pub fn replaced_version_at(&self, at: DateTime<Utc>) -> Option<&Memory> {
        self.steps
            .iter()
            .take_while(|step| at < step.operation.at)
            .last()?
            .before
            .as_ref()
    }
}

/// A recorded change of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryStep {
    /// The operation that made the change.
    pub operation: Operation,
    /// The operation that this one undid, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that undid this one, if any.
    pub undone_by: Option<OperationId>,
    /// The reason, if the verb does not explain it.
    pub why: Option<String>,
    /// The path in the trash of the version before the change; `None` if the memory was created, or the version was purged.
    pub trash: Option<String>,
    /// The version before the change, if it is in the trash and can be read.
    pub before: Option<Memory>,
    /// The version after the change, or `None` if the memory was deleted or the version cannot be read.
    pub after: Option<Memory>,
    /// Whether the change created the memory, so that its undo deletes it.
    pub is_creation: bool,
    /// Whether the change deleted the memory.
    pub is_deletion: bool,
    /// Whether another program changed the file after this step, so that `after` contains that change too.
    pub is_edited_after: bool,
    /// The number of memories that an undo of the operation would affect, or why it cannot be undone now.
    ///
    /// It has no meaning if the operation is already undone.
    pub undo: Result<u64, UndoObstacle>,
}

/// Returns the newest `limit` changes of the memory `id`, which may be deleted.
///
/// # Errors
/// If the journal cannot be read. A version that cannot be read is left out.
pub fn memory_history(
    services: &Services,
    id: &MemoryId,
    limit: usize,
) -> Result<MemoryHistory, StoreError> {
    let current = match services.store.get(id) {
        Ok(stored) => Some(stored),
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
        Err(error) => return Err(error),
    };
    let mut changes = Vec::new();
    for change in services
        .history
        .changes_to(id)
        .take(limit.saturating_add(1))
    {
        changes.push(change?);
    }
    let has_more = limit < changes.len();
    changes.truncate(limit);
    let reaches = changes
        .iter()
        .map(|change| undo_reach(services, change))
        .collect::<Result<Vec<_>, _>>()?;
    let mut read = |trash: &str| services.history.memory_in_trash(trash).ok();
    let is_next = |file: &RecordedFile, hash| is_former_version(services, file, hash);
    // The current file is already compared.
    let newest = changes
        .first()
        .and_then(|change| change.subject.after.clone());
    let is_current = match (&current, newest) {
        (Some(stored), Some(after)) => is_version(services, stored, FileVersion(after.hash))?,
        _ => true,
    };
    let mut steps = build_steps(changes, current.as_ref(), is_current, &is_next, &mut read);
    for (step, reach) in steps.iter_mut().zip(reaches) {
        step.undo = reach;
    }
    Ok(MemoryHistory { steps, has_more })
}

/// Number of files from which those of an operation are counted instead of its memories, which would take long.
const MANY_FILES: u64 = 1_000;

/// Returns the number of memories that an undo of the operation would affect, or why it cannot be undone.
fn undo_reach(
    services: &Services,
    change: &Recorded<RecordedChange>,
) -> Result<Result<u64, UndoObstacle>, StoreError> {
    // The undo of a large operation would leave this memory as it is.
    if !is_current_state(services, &change.subject.id, change.subject.after.as_ref())? {
        return Ok(Err(UndoObstacle::ChangedSince));
    }
    let files = changed_files(services, &change.operation.id)?;
    if MANY_FILES <= files {
        // An undo of many files leaves out those that were changed since.
        let own = std::iter::once(Ok(change.subject.clone()));
        return Ok(undo_obstacle(services, own, files)?.map_or(Ok(files), Err));
    }
    let changes = services
        .history
        .changes(&change.operation.id)
        .collect::<Result<Vec<_>, _>>()?;
    let files = changes.len() as u64;
    let subject = operation_subject(services, change.operation.verb, &changes).changes;
    let memories = subject
        .iter()
        .map(|change| change.id)
        .collect::<HashSet<_>>()
        .len();
    let obstacle = undo_obstacle(services, changes.into_iter().map(Ok), files)?;
    Ok(obstacle.map_or(Ok(memories as u64), Err))
}

/// Returns the number of files that the operation changed.
fn changed_files(services: &Services, id: &OperationId) -> Result<u64, StoreError> {
    for record in services.history.records() {
        let record = record?;
        if record.operation.id == *id {
            return Ok(record.subject.count);
        }
    }
    Ok(0)
}

/// A memory before and after a recorded change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeVersions {
    /// The version before the change; `None` if the memory was created, or the version is not in the trash.
    pub before: Option<Memory>,
    /// The version after the change; `None` if the memory was deleted, or the version cannot be read.
    pub after: Option<Memory>,
}

impl ChangeVersions {
    /// Returns the version that a list names: the one after the change, or the one before it.
    pub fn newest(&self) -> Option<&Memory> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// Returns the versions of a memory before and after a change that `operation` made.
///
/// # Errors
/// If the journal or the memories cannot be read. A version that cannot be read is left out.
pub fn change_versions(
    services: &Services,
    operation: &OperationId,
    change: &RecordedChange,
) -> Result<ChangeVersions, StoreError> {
    let read = |trash: &str| services.history.memory_in_trash(trash).ok();
    let before = change
        .before
        .as_ref()
        .and_then(|before| read(before.trash.as_deref()?));
    let Some(after) = &change.after else {
        return Ok(ChangeVersions {
            before,
            after: None,
        });
    };
    let current = match services.store.get(&change.id) {
        Ok(stored) => is_version(services, &stored, FileVersion(after.hash))?.then_some(stored),
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
        Err(error) => return Err(error),
    };
    if let Some(stored) = current {
        return Ok(ChangeVersions {
            before,
            after: Some(stored.memory),
        });
    }
    // The next change moved this version to the trash.
    let mut next = None;
    for later in services.history.changes_to(&change.id) {
        let later = later?;
        if later.operation.id == *operation {
            break;
        }
        let is_next = |file: &RecordedFile| is_former_version(services, file, after.hash);
        next = later.subject.before.filter(is_next);
    }
    Ok(ChangeVersions {
        before,
        after: next.and_then(|file| read(file.trash.as_deref()?)),
    })
}

/// Returns the version of a memory at a time, or `None` if it did not exist then, or if the version is not stored.
///
/// # Errors
/// If the journal or the memory cannot be read.
pub fn memory_at(
    services: &Services,
    id: &MemoryId,
    at: DateTime<Utc>,
) -> Result<Option<Memory>, StoreError> {
    let mut replaced = None;
    for change in services.history.changes_to(id) {
        let change = change?;
        if change.operation.at <= at {
            break;
        }
        replaced = Some(change.subject.before);
    }
    match replaced {
        Some(before) => Ok(before
            .and_then(|file| file.trash)
            .and_then(|trash| services.history.memory_in_trash(&trash).ok())),
        None => match services.store.get(id) {
            Ok(stored) => Ok(Some(stored.memory)),
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// Returns whether a version in the trash has this hash, apart from its access count.
fn is_former_version(services: &Services, file: &RecordedFile, hash: ContentHash) -> bool {
    let in_trash = |trash: &String| {
        let compared = services.history.trash_has_version(trash, FileVersion(hash));
        compared.unwrap_or(false)
    };
    file.hash == hash || file.trash.as_ref().is_some_and(in_trash)
}

/// Adds the versions to the changes, which are ordered newest first. `read` reads a version from the trash.
///
/// `is_current` is whether the newest change left the current file, and `is_former` compares a version in the trash.
fn build_steps(
    changes: Vec<Recorded<RecordedChange>>,
    current: Option<&StoredMemory>,
    is_current: bool,
    is_former: &dyn Fn(&RecordedFile, ContentHash) -> bool,
    read: &mut dyn FnMut(&str) -> Option<Memory>,
) -> Vec<MemoryStep> {
    let mut next_file: Option<RecordedFile> = None;
    let mut is_edited_after = !is_current;
    let mut next = current.map(|stored| stored.memory.clone());
    let mut steps = Vec::with_capacity(changes.len());
    for Recorded {
        operation,
        subject,
        undoes,
        undone_by,
    } in changes
    {
        let RecordedChange {
            before, after, why, ..
        } = subject;
        let trash = before.as_ref().and_then(|before| before.trash.clone());
        let former = trash.as_deref().and_then(&mut *read);
        if let (Some(after), Some(next)) = (&after, &next_file) {
            is_edited_after = !is_former(next, after.hash);
        }
        steps.push(MemoryStep {
            operation,
            undoes,
            undone_by,
            why,
            trash: trash.filter(|_| former.is_some()),
            before: former.clone(),
            after: next.take().filter(|_| after.is_some()),
            is_creation: before.is_none(),
            is_deletion: after.is_none(),
            is_edited_after,
            undo: Err(UndoObstacle::ChangedSince),
        });
        next_file = before;
        is_edited_after = false;
        next = former;
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{
        Draft, MemStore, Patch, SecretPolicy, Verb, delete, link, pin, restore, undo, update, write,
    };

    #[test]
    fn each_step_has_the_versions_before_and_after_it() {
        let services = services(Arc::new(MemStore::default()));
        let id = write(&services, Draft::new("tea"), SecretPolicy::Refuse)
            .unwrap()
            .id;
        let name = id.to_string();
        let set = |text: &str| {
            let patch = Patch {
                content: Some(text.into()),
                ..Patch::default()
            };
            update(&services, &name, &patch, None, SecretPolicy::Refuse).unwrap()
        };
        set("green tea");
        write(&services, Draft::new("another"), SecretPolicy::Refuse).unwrap();
        set("black tea");
        let report = undo(&services, None).unwrap();
        delete(&services, &name).unwrap();
        let steps = |limit| memory_history(&services, &id, limit).unwrap();
        let texts: Vec<_> = steps(9)
            .steps
            .iter()
            .map(|step| {
                let text = |memory: &Option<Memory>| {
                    memory
                        .as_ref()
                        .map_or_else(|| "-".to_owned(), |memory| memory.content.clone())
                };
                (step.operation.verb, text(&step.before), text(&step.after))
            })
            .collect();
        let expected = [
            (Verb::Delete, "green tea", "-"),
            (Verb::Undo, "black tea", "green tea"),
            (Verb::Update, "green tea", "black tea"),
            (Verb::Update, "tea", "green tea"),
            (Verb::Write, "-", "tea"),
        ];
        assert_eq!(
            texts,
            expected.map(|(verb, before, after)| (verb, before.to_owned(), after.to_owned()))
        );
        let all = steps(9);
        assert_eq!(
            (all.steps[2].undone_by.clone(), all.has_more),
            (Some(report.undo), false)
        );
        assert!(all.steps[0].is_deletion && all.steps.iter().all(|step| !step.is_edited_after));
        assert!(steps(2).has_more && steps(2).steps.len() == 2);
        restore(&services, all.steps[3].trash.as_deref().unwrap()).unwrap();
        assert_eq!(
            steps(1).steps[0]
                .after
                .as_ref()
                .map(|memory| memory.content.as_str()),
            Some("tea")
        );
    }
    #[test]
    fn only_a_change_that_no_other_one_builds_on_can_be_undone() {
        let services = services(Arc::new(MemStore::default()));
        let id = write(&services, Draft::new("tea"), SecretPolicy::Refuse)
            .unwrap()
            .id;
        let other = write(&services, Draft::new("kettle"), SecretPolicy::Refuse)
            .unwrap()
            .id;
        link(&services, &id.to_string(), &other.to_string()).unwrap();
        let reaches = || {
            memory_history(&services, &id, 9)
                .unwrap()
                .steps
                .iter()
                .map(|step| step.undo)
                .collect::<Vec<_>>()
        };
        assert_eq!(reaches(), [Ok(2), Err(UndoObstacle::ChangedSince)]);
        // The link changed both memories, so a change of the other one prevents its undo.
        pin(&services, &other.to_string()).unwrap();
        assert_eq!(reaches(), [Err(UndoObstacle::ChangedSince); 2]);
        let steps = memory_history(&services, &id, 9).unwrap().steps;
        assert_eq!(
            steps
                .iter()
                .map(|step| step.is_creation)
                .collect::<Vec<_>>(),
            [false, true]
        );
        for step in &steps {
            assert!(
                undo(&services, Some(step.operation.id.as_str())).is_err(),
                "{step:?}"
            );
        }
        undo(&services, None).unwrap();
        assert_eq!(reaches()[0], Ok(2));
        undo(&services, Some(steps[0].operation.id.as_str())).unwrap();
        // The state is again the one that the write left, so the write can be undone.
        assert_eq!(reaches()[2], Ok(1));
        undo(&services, Some(steps[1].operation.id.as_str())).unwrap();
        assert!(services.store.get(&id).is_err());
    }

    #[test]
    fn a_change_is_shown_with_the_text_of_its_time() {
        let services = services(Arc::new(MemStore::default()));
        let id = write(&services, Draft::new("tea"), SecretPolicy::Refuse)
            .unwrap()
            .id;
        for text in ["green tea", "black tea"] {
            let patch = Patch {
                content: Some(text.into()),
                ..Patch::default()
            };
            update(
                &services,
                &id.to_string(),
                &patch,
                None,
                SecretPolicy::Refuse,
            )
            .unwrap();
        }
        delete(&services, &id.to_string()).unwrap();
        let texts: Vec<_> = services
            .history
            .changes_to(&id)
            .map(|change| {
                let change = change.unwrap();
                let versions =
                    change_versions(&services, &change.operation.id, &change.subject).unwrap();
                [versions.before, versions.after]
                    .map(|memory| memory.map_or_else(|| "-".to_owned(), |memory| memory.content))
            })
            .collect();
        assert_eq!(
            texts,
            [
                ["black tea", "-"],
                ["green tea", "black tea"],
                ["tea", "green tea"],
                ["-", "tea"]
            ]
        );
    }
}
