//! Deletion, undo of operations, and restoring files from the trash.

use std::collections::HashSet;

use crate::commit::commit;
use crate::review::decide::is_version;
use crate::{
    Change, ChangeOutcome, ChangedFiles, FileVersion, LARGE_OPERATION, Memory, MemoryId,
    MemoryStoreExt, Operation, OperationRecord, RecordedChange, RecordedFile, SecretPolicy,
    Services, StoreError, StoredMemory, TrashedFile, Undone, Verb, find_by_prefix,
};

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// Without `reference`, operations of other principals are skipped, and so is the notification of a reminder, since the user
/// did not request it, unless it prevents the undo of an older operation. Undoing an undo repeats the operation. Files of a large operation that were
/// changed since are left as they are; the result lists them.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if there is no such operation, [`StoreError::Conflict`] if a file of an operation
/// with fewer than [`crate::LARGE_OPERATION`] files was changed since.
pub fn undo(services: &Services, reference: Option<&str>) -> Result<UndoReport, StoreError> {
    undo_as(services, reference, &services.operation(Verb::Undo))
}

/// Undoes an operation as [`undo()`] does; `operation` is the undo.
pub(crate) fn undo_as(
    services: &Services,
    reference: Option<&str>,
    operation: &Operation,
) -> Result<UndoReport, StoreError> {
    // An interrupted operation, possibly an undo, is rolled back first, so that it does not count as completed.
    services.history.recover()?;
    services.store.refresh()?;
    let record = match reference {
        Some(reference) => find_undoable(services, reference)?,
        None => find_last(services, &[])?,
    };
    let left = services
        .history
        .revert(&record.operation.id, operation)?
        .left;
    Ok(UndoReport {
        record,
        undo: operation.id.clone(),
        left,
    })
}

/// Undoes the last operation that changed the memory that `reference` names, which may be deleted.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if there is no such operation; otherwise those of [`undo()`].
pub fn undo_last_change(services: &Services, reference: &str) -> Result<UndoReport, StoreError> {
    services.history.recover()?;
    services.store.refresh()?;
    let id = match services.store.find(reference) {
        Err(StoreError::NotFound { .. }) => find_trashed(services, reference)?.id,
        found => found?,
    };
    for change in services.history.changes_to(&id) {
        let change = change?;
        if change.operation.verb != Verb::Undo && change.undone_by.is_none() {
            return undo(services, Some(change.operation.id.as_str()));
        }
    }
    Err(StoreError::OperationNotFound {
        wanted: format!("no operation on {} can be undone", id.short()),
    })
}

/// The reason why an operation on memories cannot be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoObstacle {
    /// A memory was changed since. That change must be undone first, or a former version restored.
    ChangedSince,
    /// A former version is no longer in the trash.
    Purged,
    /// The operation only recorded deletions by another program.
    ExternalDeletion,
}

/// Returns why an undo of the operation with these changes, the last one first, would be refused; `None` if it is possible.
///
/// `files` is the number of all its changes, of which as few as possible are read. Whether the operation was already undone is in
/// its record. The state may change before the undo, which checks it again.
///
/// # Errors
/// If the journal or the memories cannot be read.
pub fn undo_obstacle(
    services: &Services,
    changes: impl Iterator<Item = Result<RecordedChange, StoreError>>,
    files: u64,
) -> Result<Option<UndoObstacle>, StoreError> {
    let is_large = LARGE_OPERATION as u64 <= files;
    let (mut seen, mut differing) = (HashSet::new(), 0);
    for change in changes {
        let change = change?;
        if !change.is_own_change() {
            continue;
        }
        if !has_former_version(services, &change)? {
            return Ok(Some(UndoObstacle::Purged));
        }
        // The last change of a memory by the operation comes first; only that one must be the current state.
        if !seen.insert(change.id) {
            continue;
        }
        match is_current_state(services, &change.id, change.after.as_ref())? {
            true if is_large => return Ok(None),
            true => {}
            false if is_large => differing += 1,
            false => return Ok(Some(UndoObstacle::ChangedSince)),
        }
    }
    Ok(match seen.len() {
        0 => Some(UndoObstacle::ExternalDeletion),
        count if count == differing => Some(UndoObstacle::ChangedSince),
        _ => None,
    })
}

/// Returns whether the version before the change is in the trash, if there was one.
fn has_former_version(services: &Services, change: &RecordedChange) -> Result<bool, StoreError> {
    let Some(before) = &change.before else {
        return Ok(true);
    };
    let Some(trash) = &before.trash else {
        return Ok(false);
    };
    match services.history.memory_in_trash(trash) {
        Ok(_) | Err(StoreError::Damaged(_)) => Ok(true),
        Err(StoreError::TrashNotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the file of the memory `id` is in this recorded state; `None` means that it does not exist.
pub(crate) fn is_current_state(
    services: &Services,
    id: &MemoryId,
    state: Option<&RecordedFile>,
) -> Result<bool, StoreError> {
    match services.store.get(id) {
        Ok(stored) => match state.filter(|file| file.path == stored.path) {
            None => Ok(false),
            Some(file) => is_version(services, &stored, FileVersion(file.hash)),
        },
        Err(StoreError::NotFound { .. }) => Ok(state.is_none()),
        Err(StoreError::Damaged(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a deleted memory that `reference` names is in the trash. An error counts as no.
pub fn is_in_trash(services: &Services, reference: &str) -> bool {
    find_trashed(services, reference).is_ok()
}

/// Returns the latest file in the trash of a memory that `reference` names: by the start of its id, or by its file name.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if there is none, or if the trash cannot be read.
pub fn find_trashed(services: &Services, reference: &str) -> Result<TrashedFile, StoreError> {
    let wanted = reference.trim().to_lowercase();
    for trashed in services.history.trashed() {
        let trashed = trashed?;
        if matches_reference(&trashed, &wanted) {
            return Ok(trashed);
        }
    }
    Err(StoreError::OperationNotFound {
        wanted: format!("no operation and no memory has the id {reference}"),
    })
}

/// The result of [`undo()`].
pub type UndoReport = Undone<ChangedFiles>;

/// Returns the operation that would be undone next, if any.
///
/// Operations of other principals, and of these `others`, are skipped.
pub(crate) fn last_undoable(
    services: &Services,
    others: &[String],
) -> Result<Option<OperationRecord>, StoreError> {
    services.history.recover()?;
    match find_last(services, others) {
        Err(StoreError::OperationNotFound { .. }) => Ok(None),
        found => found.map(Some),
    }
}

fn find_last(services: &Services, others: &[String]) -> Result<OperationRecord, StoreError> {
    let mut passed = Vec::new();
    for record in services.history.records() {
        let record = record?;
        let is_open =
            record.is_open() && !record.subject.by_other && !record.operation.is_by_any(others);
        if is_open && record.operation.verb == Verb::Notify {
            passed.push(record);
        } else if is_open && can_be_undone(services, &record)? {
            return find_blocking(services, passed, &record).map(|later| later.unwrap_or(record));
        }
    }
    Err(StoreError::OperationNotFound {
        wanted: "there is no operation to undo".into(),
    })
}

/// Returns the latest of `later` that changed a file of `record`, and that must be undone before it.
fn find_blocking(
    services: &Services,
    later: Vec<OperationRecord>,
    record: &OperationRecord,
) -> Result<Option<OperationRecord>, StoreError> {
    if later.is_empty() {
        return Ok(None);
    }
    let changed = |record: &OperationRecord| -> Result<HashSet<MemoryId>, StoreError> {
        services
            .history
            .changes(&record.operation.id)
            .map(|change| change.map(|change| change.id))
            .collect()
    };
    let own = changed(record)?;
    for later in later {
        if !changed(&later)?.is_disjoint(&own) {
            return Ok(Some(later));
        }
    }
    Ok(None)
}

/// Returns whether an operation can be undone. A repair may only record deletions by other programs.
fn can_be_undone(services: &Services, record: &OperationRecord) -> Result<bool, StoreError> {
    if record.operation.verb != Verb::Repair {
        return Ok(true);
    }
    for change in services.history.changes(&record.operation.id) {
        if change?.is_own_change() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn find_undoable(services: &Services, reference: &str) -> Result<OperationRecord, StoreError> {
    let record = find_by_prefix(services.history.records(), reference)?;
    match &record.undone_by {
        Some(undo) => Err(StoreError::Invalid {
            why: format!("{} was already undone by {undo}", record.operation.id),
        }),
        None if !can_be_undone(services, &record)? => Err(StoreError::Invalid {
            why: format!(
                "{} only recorded deletions by another program",
                record.operation.id
            ),
        }),
        None => Ok(record),
    }
}

/// Restores the file that was last moved to the trash under `reference`.
///
/// `reference` is an id, a prefix of at least 4 digits of an id, or a file stem, if the memory was deleted or its text
/// was summarized. It may also be the path of any file in the trash; the current version then moves to the trash
/// instead.
///
/// # Errors
/// [`StoreError::TrashNotFound`] if there is no such file, [`StoreError::Conflict`] if the file of another memory
/// occupies the path.
pub fn restore(
    services: &Services,
    reference: &str,
) -> Result<(TrashedFile, ChangeOutcome), StoreError> {
    services.store.refresh()?;
    let wanted = reference.trim().to_lowercase();
    let mut earlier = None;
    for trashed in services.history.trashed() {
        let trashed = trashed?;
        let is_path = trashed.trash.to_lowercase() == wanted;
        let is_named = matches_reference(&trashed, &wanted);
        if is_named && !is_path && !is_restorable(services, &trashed)? {
            earlier = earlier.or(Some(trashed.trash));
        } else if is_path || is_named {
            let operation = services.operation(Verb::Restore);
            let outcome = services.history.restore(&trashed, &operation)?;
            return Ok((trashed, outcome));
        }
    }
    Err(StoreError::TrashNotFound {
        reference: reference.to_owned(),
        earlier,
    })
}

/// Returns whether a reference in lower case names the memory in the trash: by the start of its id, or by its file name.
pub(crate) fn matches_reference(trashed: &TrashedFile, wanted: &str) -> bool {
    let stem = trashed
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".md")
        .to_lowercase();
    (4 <= wanted.len() && trashed.id.to_string().starts_with(wanted))
        || stem == wanted.trim_end_matches(".md")
}

/// Returns the file in the trash with the full text of the summary in `memory`.
///
/// Returns `None` if the file was purged, or `memory` is not a summary.
///
/// # Errors
/// If the trash cannot be read.
pub fn find_full_text(
    services: &Services,
    memory: &Memory,
) -> Result<Option<TrashedFile>, StoreError> {
    if memory.summarised_by.is_none() {
        return Ok(None);
    }
    for trashed in services.history.trashed() {
        let trashed = trashed?;
        if is_full_text(&trashed, memory) {
            return Ok(Some(trashed));
        }
    }
    Ok(None)
}

fn is_full_text(trashed: &TrashedFile, memory: &Memory) -> bool {
    trashed.id == memory.id && memory.summarised_by.as_ref() == Some(&trashed.operation.id)
}

/// Returns whether a file in the trash is a deleted memory, or the full text of the current summary.
fn is_restorable(services: &Services, trashed: &TrashedFile) -> Result<bool, StoreError> {
    match services.store.get(&trashed.id) {
        Ok(stored) => Ok(is_full_text(trashed, &stored.memory)),
        Err(StoreError::NotFound { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Moves the memory that `reference` names to the trash, and returns its last version.
///
/// # Errors
/// [`StoreError::NotFound`] or [`StoreError::Ambiguous`].
pub fn delete(services: &Services, reference: &str) -> Result<StoredMemory, StoreError> {
    let stored = services.store.get_by(reference)?;
    let mut set = services.change_set(Verb::Delete);
    set.changes.push(Change::Remove {
        id: stored.memory.id,
        expected: None,
    });
    commit(services, &set, SecretPolicy::Keep)?;
    Ok(stored)
}
