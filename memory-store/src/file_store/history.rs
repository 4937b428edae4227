//! The history of operations, undo and the trash.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError};

use memory_core::{
    ChangeOutcome, ChangedFiles, Code, FileVersion, History, LARGE_OPERATION, Memory, MemoryId,
    Operation, OperationId, OperationRecord, Recorded, RecordedChange, RecordedFile, RevertedFiles,
    StoreError, StoreResults, TrashedFile, Verb,
};

use super::plan::{generated_name, replaced_file};
use super::replica::ApplyError;
use super::undo_tracker::{UndoState, UndoTracker};
use super::{CachedRecords, FileStore};
use crate::access_key::{have_same_key, key_of_file, name_with_key};
use crate::disk::parent_folder;
use crate::error::io_error;
use crate::journal::{CommitStep, JournalPayload, PlannedFile, ReplacedFile, revert_step};
use crate::markdown::{self, is_version};
use crate::memory_file::load;
use crate::shared_log::decode_memory;

/// The reason of a change that an undo left out.
const CHANGED_SINCE: &str = "changed since";

/// Maximum number of files that an undo restores in one step.
const MAX_FILES_PER_STEP: usize = 2_000;

/// An operation in the journal with the effects of later undos.
struct TrackedOperation {
    record: Recorded<JournalPayload>,
    /// The states of its changes.
    states: Vec<UndoState>,
    /// The newest undo with an effect on it.
    undone_by: Option<OperationId>,
}

impl History for FileStore {
    fn records(&self) -> StoreResults<'_, OperationRecord> {
        match self.cached_records() {
            Ok(records) => Box::new((0..records.len()).map(move |at| Ok(records[at].clone()))),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn changes(&self, id: &OperationId) -> StoreResults<'_, RecordedChange> {
        let id = id.clone();
        let changes = self
            .journaled_operations(Some(id.as_str()))
            .filter(move |begun| {
                begun
                    .as_ref()
                    .map_or(true, |begun| begun.operation.id == id)
            });
        Box::new(changes.flat_map(|begun| {
            match begun {
                Ok(begun) => begun
                    .subject
                    .changes
                    .into_iter()
                    .rev()
                    .map(Ok)
                    .collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            }
        }))
    }

    fn changes_of(&self, verb: Verb) -> StoreResults<'_, RecordedChange> {
        Box::new(
            self.tracked_operations(Some(&format!("\"verb\":\"{}\"", verb.as_str())))
                .flat_map(move |tracked| match tracked {
                    Ok(TrackedOperation { record, .. }) if record.operation.verb != verb => {
                        Vec::new()
                    }
                    Ok(TrackedOperation { record, states, .. }) => {
                        let changes = record.subject.changes.into_iter().zip(states).rev();
                        changes
                            .filter(|(_, state)| *state == UndoState::Open)
                            .map(|(change, _)| Ok(change))
                            .collect()
                    }
                    Err(error) => vec![Err(error)],
                }),
        )
    }

    fn trashed(&self) -> StoreResults<'_, TrashedFile> {
        let trashed = self.tracked_operations(Some("\"trash\":")).flat_map(
            move |tracked| -> Vec<Result<TrashedFile, StoreError>> {
                let TrackedOperation { record, states, .. } = match tracked {
                    Ok(tracked) => tracked,
                    Err(error) => return vec![Err(error)],
                };
                let found = record.subject.changes.iter().zip(states).rev().filter_map(
                    |(change, state)| {
                        // The previous file of a reverted change is active again; the trash keeps it in case the undo is undone.
                        if state == UndoState::Reverted {
                            return None;
                        }
                        let former = change.before.as_ref()?;
                        let trash = former.trash.clone()?;
                        let size = self.disk.stat(&trash).ok()??.size;
                        let operation = record.operation.clone();
                        Some(Ok(TrashedFile {
                            id: change.id,
                            path: former.path.clone(),
                            trash,
                            operation,
                            size,
                        }))
                    },
                );
                found.collect()
            },
        );
        Box::new(trashed)
    }

    fn changes_to(&self, id: &MemoryId) -> StoreResults<'_, Recorded<RecordedChange>> {
        let id = *id;
        let text = id.to_string();
        Box::new(self.changes_where(Some(&text), move |change| change.id == id))
    }

    fn all_changes(&self) -> StoreResults<'_, Recorded<RecordedChange>> {
        Box::new(self.changes_where(None, |_| true))
    }

    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError> {
        let loaded = load(self.disk.as_ref(), trash)?;
        let missing = || StoreError::TrashNotFound {
            reference: trash.to_owned(),
            earlier: None,
        };
        loaded
            .map(|loaded| loaded.stored.memory)
            .ok_or_else(missing)
    }

    fn trash_has_version(&self, trash: &str, expected: FileVersion) -> Result<bool, StoreError> {
        Ok(is_version(&self.read_trash(trash)?, expected.0))
    }

    fn recover(&self) -> Result<(), StoreError> {
        drop(self.lock_for_writing()?);
        self.catch_up()
    }

    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError> {
        let _lock = self.lock_for_writing()?;
        match self.retry_outdated(|| self.try_revert(id, undo)) {
            Err(StoreError::Conflict { what }) if self.is_id_taken_elsewhere(id, &what)? => {
                let what = format!(
                    "the deletion of {what} cannot be undone: another principal uses the id of this memory now"
                );
                let hint = "`memory restore` restores the deleted memory with an id of its own; `memory trash list` names it";
                Err(StoreError::Database {
                    what,
                    code: Code::Conflict,
                    hint,
                    source: None,
                })
            }
            reverted => reverted,
        }
    }

    fn restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<ChangeOutcome, StoreError> {
        let _lock = self.lock_for_writing()?;
        let is_gone = || {
            matches!(
                self.load_current(&trashed.id),
                Err(StoreError::NotFound { .. })
            )
        };
        match self.retry_outdated(|| self.try_restore(trashed, restore)) {
            // A memory that this node does not see has the id.
            Err(StoreError::Conflict { .. }) if self.replica.is_some() && is_gone() => {
                let bytes = self.read_trash(&trashed.trash)?;
                self.retry_outdated(|| self.restore_copy(trashed, &bytes, restore))
            }
            restored => restored,
        }
    }

    fn purge(&self, before: chrono::DateTime<chrono::Utc>) -> Result<(u64, u64), StoreError> {
        self.purge_while(before, &mut || true)
    }
}

impl FileStore {
    fn try_revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, ApplyError> {
        // An interrupted undo, or one by another principal, has reverted a part of the operation.
        let done = self.reverted_changes(id)?;
        let is_begun = !done.is_empty();
        // All changes are checked before the first one is made.
        let mut later = HashMap::new();
        let mut left = BTreeMap::new();
        let mut conflict = None;
        for change in self.open_changes(id, &done) {
            let change = change?;
            let checked = match later.get(&change.id) {
                // A deleted memory that was restored since may have another path.
                None if change.after.is_none()
                    && let Some((loaded, _)) = self.load_indexed(&change.id)? =>
                {
                    Err(StoreError::Conflict {
                        what: loaded.stored.path,
                    })
                }
                None => revert_step(self.disk.as_ref(), &change).map(drop),
                Some(next) => self.check_revertible(&change, Option::as_ref(next)),
            };
            match checked {
                Err(StoreError::Conflict { what }) => {
                    left.insert(change.id, what.clone());
                    conflict = conflict.or(Some(StoreError::Conflict { what }));
                }
                checked => checked?,
            }
            later.insert(change.id, change.before);
        }
        if later.is_empty() {
            return Err(StoreError::OperationNotFound {
                wanted: format!("operation {id} was already undone"),
            }
            .into());
        }
        if let Some(conflict) = conflict {
            let all = self
                .changes(id)
                .map(|change| change.map(|change| change.id))
                .collect::<Result<HashSet<_>, _>>()?;
            // The rest of an interrupted undo may be small, and consist of changed files only.
            if all.len() < LARGE_OPERATION || !is_begun && left.len() == later.len() {
                return Err(conflict.into());
            }
        }
        let (mut steps, mut touched) = (Vec::new(), HashSet::new());
        for change in self.open_changes(id, &done) {
            let change = change?;
            // A later part of a long operation may have changed a file of an earlier part again.
            if MAX_FILES_PER_STEP <= steps.len() || touched.contains(&change.id) {
                self.apply_steps(undo, Some(id), &steps)?;
                steps.clear();
                touched.clear();
            }
            touched.insert(change.id);
            if left.contains_key(&change.id) {
                // The step counts as reverted, so that an interrupted undo can be continued.
                steps.push(CommitStep {
                    id: change.id,
                    before: None,
                    after: None,
                    why: Some(CHANGED_SINCE.into()),
                });
            } else {
                steps.push(revert_step(self.disk.as_ref(), &change)?);
            }
        }
        self.apply_steps(undo, Some(id), &steps)?;
        Ok(RevertedFiles {
            files: (later.len() - left.len()) as u64,
            left: left.into_values().collect(),
        })
    }

    fn try_restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<ChangeOutcome, ApplyError> {
        let bytes = self.read_trash(&trashed.trash)?;
        let live = match self.load_current(&trashed.id) {
            Ok((loaded, _)) => Some(replaced_file(&loaded)),
            Err(StoreError::NotFound { .. }) if self.has_left(trashed)? => {
                return self.restore_copy(trashed, &bytes, restore);
            }
            Err(StoreError::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        // A version with another access key must not become one that other principals read.
        let has_same_key = |live: &&ReplacedFile| {
            self.replica.is_none() || have_same_key(&live.path, &trashed.path)
        };
        let path = live
            .as_ref()
            .filter(has_same_key)
            .map_or(&trashed.path, |live| &live.path)
            .clone();
        let is_moved = live.as_ref().is_none_or(|live| live.path != path);
        let is_taken = is_moved && load(self.disk.as_ref(), &path)?.is_some();
        if is_taken {
            return Err(StoreError::Conflict { what: path }.into());
        }
        let step = CommitStep {
            id: trashed.id,
            before: live,
            after: Some(PlannedFile {
                path: path.clone(),
                bytes,
            }),
            why: None,
        };
        self.apply_steps(restore, None, &[step])?;
        Ok(ChangeOutcome::Kept {
            id: trashed.id,
            path,
        })
    }

    /// Returns whether the database refused to restore the file that `id` deleted, and this node has no file in its place.
    fn is_id_taken_elsewhere(&self, id: &OperationId, path: &str) -> Result<bool, StoreError> {
        if self.replica.is_none() || load(self.disk.as_ref(), path)?.is_some() {
            return Ok(false);
        }
        let mut changes = self.own_changes(id);
        changes.try_fold(false, |found, change| {
            let RecordedChange { before, after, .. } = change?;
            Ok(found || after.is_none() && before.is_some_and(|before| before.path == path))
        })
    }

    /// Returns whether an operation moved a memory from the scopes of this node into others, and so left a version in the trash.
    ///
    /// The memory then exists, and this node does not see it.
    fn has_left(&self, trashed: &TrashedFile) -> Result<bool, StoreError> {
        if self.principal_name()?.is_none() {
            return Ok(false);
        }
        let mut wanted = trashed.operation.id.clone();
        for record in self.journaled_operations(None) {
            let record = record?;
            if record.operation.id == wanted {
                let mut changes = record.subject.changes.iter();
                // An undone change from a scope of this node would have returned the memory to that scope.
                if wanted != trashed.operation.id
                    && changes.any(|change| change.id == trashed.id && change.before.is_some())
                {
                    return Ok(false);
                }
                let Some(undone) = record.undoes else {
                    return Ok(matches!(
                        record.operation.verb,
                        Verb::Update | Verb::Accept | Verb::Restore
                    ));
                };
                wanted = undone;
            }
        }
        // The undone operation was in other scopes.
        Ok(true)
    }

    /// Restores a version of a memory that exists in scopes of others, as a memory with an id of its own.
    fn restore_copy(
        &self,
        trashed: &TrashedFile,
        bytes: &[u8],
        restore: &Operation,
    ) -> Result<ChangeOutcome, ApplyError> {
        let former = decode_memory(&trashed.path, bytes);
        // The id depends only on the operation, so a repeated attempt restores the same memory.
        let id = MemoryId::for_path(&format!("restored/{}/{}", restore.id, trashed.id));
        let memory = Memory { id, ..former };
        let key = key_of_file(
            &trashed.path,
            &memory.scope,
            self.principal_name()?.as_deref(),
        );
        let name = name_with_key(&generated_name(&memory), &key);
        let path = format!("{}/{name}", parent_folder(&trashed.path));
        if load(self.disk.as_ref(), &path)?.is_some() {
            return Err(StoreError::Conflict { what: path }.into());
        }
        let bytes = markdown::rewrite(&path, bytes, &memory).map_err(StoreError::Damaged)?;
        let step = CommitStep {
            id,
            before: None,
            after: Some(PlannedFile {
                path: path.clone(),
                bytes,
            }),
            why: None,
        };
        self.apply_steps(restore, None, &[step])?;
        Ok(ChangeOutcome::Kept { id, path })
    }

    /// Iterates over the changes that satisfy `is_wanted`, newest first; `text` is in the line of each.
    fn changes_where<'a, F: Fn(&RecordedChange) -> bool + 'a>(
        &'a self,
        text: Option<&str>,
        is_wanted: F,
    ) -> impl Iterator<Item = Result<Recorded<RecordedChange>, StoreError>> + use<'a, F> {
        self.tracked_operations(text)
            .flat_map(move |tracked| match tracked {
                Ok(TrackedOperation {
                    mut record,
                    states,
                    undone_by,
                }) => {
                    let changes = std::mem::take(&mut record.subject.changes)
                        .into_iter()
                        .zip(states)
                        .rev();
                    let wanted =
                        changes.filter(|(change, _)| is_wanted(change) && !change.is_placeholder());
                    let of_change = |(change, state)| {
                        let undone_by = undone_by.clone().filter(|_| state != UndoState::Open);
                        Ok(Recorded {
                            undone_by,
                            ..record.clone().map(|_| change)
                        })
                    };
                    wanted.map(of_change).collect::<Vec<_>>()
                }
                Err(error) => vec![Err(error)],
            })
    }

    /// Iterates over the operations in the journal, newest first; with `text`, those whose line contains it and all undos.
    fn tracked_operations(
        &self,
        text: Option<&str>,
    ) -> impl Iterator<Item = Result<TrackedOperation, StoreError>> + use<'_> {
        let mut tracker = UndoTracker::default();
        self.journaled_operations(text).map(move |record| {
            let record = record?;
            let states = tracker.add(&record);
            let undone_by = tracker.undo_of(&record.operation.id).cloned();
            Ok(TrackedOperation {
                record,
                states,
                undone_by,
            })
        })
    }

    /// Iterates over the operations in the journal that were not aborted, newest first; with `text`, those whose line contains it and all
    /// undos.
    pub(super) fn journaled_operations(
        &self,
        text: Option<&str>,
    ) -> impl Iterator<Item = Result<Recorded<JournalPayload>, StoreError>> + use<'_> {
        let (operations, failed) = match self.journal().operations_with(text) {
            Ok(operations) => (Some(operations), None),
            Err(error) => (None, Some(Err(error))),
        };
        operations.into_iter().flatten().chain(failed)
    }

    /// Returns the operations in the journal, newest first. It is read again after it was changed.
    fn cached_records(&self) -> Result<Arc<[OperationRecord]>, StoreError> {
        // Lines that are appended during the reading have another position.
        let (end, size) = (self.journal().end()?, self.journal().size()?);
        let cached = || self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached().as_ref()
            && (&known.end, known.size) == (&end, size)
        {
            return Ok(Arc::clone(&known.records));
        }
        let records: Arc<[_]> = self.read_records()?.into();
        *cached() = Some(CachedRecords {
            end,
            size,
            records: Arc::clone(&records),
        });
        Ok(records)
    }

    fn read_records(&self) -> Result<Vec<OperationRecord>, StoreError> {
        let mut records = Vec::<OperationRecord>::new();
        let mut position = HashMap::<OperationId, usize>::new();
        // The numbers of own changes of each operation, and of those that undos had an effect on.
        let mut counts = Vec::<(usize, usize)>::new();
        for tracked in self.tracked_operations(None) {
            let TrackedOperation {
                record,
                states,
                undone_by,
            } = tracked?;
            let Recorded {
                operation,
                undoes,
                subject: JournalPayload { changes, by_other },
                ..
            } = record;
            let files = changes.len() as u64;
            let own = changes
                .iter()
                .zip(&states)
                .filter(|(change, _)| change.is_own_change());
            let count = own.fold((0, 0), |(all, done), (_, state)| {
                (all + 1, done + usize::from(*state != UndoState::Open))
            });
            // The parts of an operation are listed by its last part.
            let at = *position
                .entry(operation.id.clone())
                .or_insert(records.len());
            if at == records.len() {
                records.push(OperationRecord {
                    operation,
                    subject: ChangedFiles { count: 0, by_other },
                    undoes,
                    undone_by,
                });
                counts.push((0, 0));
            }
            records[at].subject.count += files;
            counts[at] = (counts[at].0 + count.0, counts[at].1 + count.1);
        }
        // An interrupted undo can be continued.
        for (record, (own, done)) in records.iter_mut().zip(counts) {
            if done < own {
                record.undone_by = None;
            }
        }
        Ok(records)
    }

    /// Iterates over the changes of `id` itself, last first.
    pub(super) fn own_changes<'a>(
        &'a self,
        id: &OperationId,
    ) -> impl Iterator<Item = Result<RecordedChange, StoreError>> + 'a {
        self.changes(id)
            .filter(|change| change.as_ref().map_or(true, RecordedChange::is_own_change))
    }

    /// Iterates over the changes of `id` itself that were not `done`, last first.
    fn open_changes<'a>(
        &'a self,
        id: &OperationId,
        done: &HashMap<MemoryId, usize>,
    ) -> impl Iterator<Item = Result<RecordedChange, StoreError>> + 'a {
        let mut done = done.clone();
        self.own_changes(id).filter(move |change| {
            match change
                .as_ref()
                .ok()
                .and_then(|change| done.get_mut(&change.id))
            {
                Some(count) if 0 < *count => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        })
    }

    /// Returns the number of changes of each memory by `id` that were reverted, or left out because the memory was changed since.
    fn reverted_changes(&self, id: &OperationId) -> Result<HashMap<MemoryId, usize>, StoreError> {
        let mut tracker = UndoTracker::default();
        for record in self.journaled_operations(Some(id.as_str())) {
            let record = record?;
            if record.operation.id != *id {
                tracker.add(&record);
            }
        }
        Ok(tracker.done(id))
    }

    /// Checks that `change` can be reverted after a later one of the same operation.
    ///
    /// The later change found the file in the state `next`.
    fn check_revertible(
        &self,
        change: &RecordedChange,
        next: Option<&RecordedFile>,
    ) -> Result<(), StoreError> {
        let state = |file: Option<&RecordedFile>| file.map(|file| (file.path.clone(), file.hash));
        if state(change.after.as_ref()) != state(next) {
            let file = change.after.as_ref().or(next);
            return Err(StoreError::Conflict {
                what: file.map(|file| file.path.clone()).unwrap_or_default(),
            });
        }
        let Some(former) = &change.before else {
            return Ok(());
        };
        let trash = former
            .trash
            .as_deref()
            .ok_or_else(|| StoreError::TrashNotFound {
                reference: former.path.clone(),
                earlier: None,
            })?;
        self.read_trash(trash).map(drop)
    }

    fn read_trash(&self, trash: &str) -> Result<Vec<u8>, StoreError> {
        match self.disk.read(trash) {
            Ok(Some((bytes, _))) => Ok(bytes),
            Ok(None) => Err(StoreError::TrashNotFound {
                reference: trash.to_owned(),
                earlier: None,
            }),
            Err(error) => Err(io_error(format!("read {trash}"), error)),
        }
    }
}
