//! The history of operations, undo and the trash.

use std::collections::{BTreeMap, HashMap, HashSet};

use memory_core::{
    ChangeOutcome, ChangedFiles, History, LARGE_OPERATION, Memory, MemoryId, Operation, OperationId, OperationRecord, Recorded,
    RecordedChange, RecordedFile, RevertedFiles, StoreError, TrashedFile, Verb, mark_undone_lazily,
};

use super::FileStore;
use super::plan::{generated_name, replaced_file};
use super::replica::AppendObstacle;
use crate::access_key::{have_same_key, key_of_file, name_with_key};
use crate::disk::parent_folder;
use crate::error::io_error;
use crate::journal::{CommitStep, JournalPayload, PlannedFile, ReplacedFile, journal_read_error, revert_step};
use crate::markdown;
use crate::memory_file::load;
use crate::offline_queue::read_document;

/// The reason of a change that an undo left out.
const CHANGED_SINCE: &str = "changed since";

/// Maximum number of files that an undo restores in one step.
const MAX_FILES_PER_STEP: usize = 2_000;

impl History for FileStore {
    fn records(&self) -> Box<dyn Iterator<Item = Result<OperationRecord, StoreError>> + '_> {
        match self.read_records() {
            Ok(records) => Box::new(records.into_iter().map(Ok)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn changes<'a>(&'a self, id: &OperationId) -> Box<dyn Iterator<Item = Result<RecordedChange, StoreError>> + 'a> {
        let id = id.clone();
        let changes =
            self.journaled_operations().filter(move |begun| begun.as_ref().map_or(true, |begun| begun.operation.id == id));
        Box::new(changes.flat_map(|begun| match begun {
            Ok(begun) => begun.subject.changes.into_iter().rev().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        }))
    }

    fn changes_of(&self, verb: Verb) -> Box<dyn Iterator<Item = Result<RecordedChange, StoreError>> + '_> {
        let operations = mark_undone_lazily(self.journaled_operations());
        let wanted = operations.filter(move |record| {
            record.as_ref().map_or(true, |record| record.operation.verb == verb && record.undone_by.is_none())
        });
        Box::new(wanted.flat_map(|record| match record {
            Ok(record) => record.subject.changes.into_iter().rev().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        }))
    }

    fn trashed(&self) -> Box<dyn Iterator<Item = Result<TrashedFile, StoreError>> + '_> {
        // The previous files of an undone operation are active again; the trash keeps them in case the undo is undone.
        let undone = match self.read_records() {
            Ok(records) => records
                .into_iter()
                .filter(|record| record.undone_by.is_some())
                .map(|record| record.operation.id)
                .collect::<HashSet<_>>(),
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        // The memories that the undo of an operation left as they were; an undo precedes its operation here.
        let mut left = HashSet::<(OperationId, MemoryId)>::new();
        let trashed = self.journaled_operations().flat_map(move |begun| -> Vec<Result<TrashedFile, StoreError>> {
            let begun = match begun {
                Ok(begun) => begun,
                Err(error) => return vec![Err(error)],
            };
            if let Some(undone) = &begun.undoes {
                let omitted = begun.subject.changes.iter().filter(|change| change.is_placeholder());
                left.extend(omitted.map(|change| (undone.clone(), change.id)));
            }
            let is_undone = undone.contains(&begun.operation.id);
            let found = begun.subject.changes.iter().rev().filter_map(|change| {
                if is_undone && !left.contains(&(begun.operation.id.clone(), change.id)) {
                    return None;
                }
                let former = change.before.as_ref()?;
                let trash = former.trash.clone()?;
                let size = self.disk.stat(&trash).ok()??.size;
                let operation = begun.operation.clone();
                Some(Ok(TrashedFile { id: change.id, path: former.path.clone(), trash, operation, size }))
            });
            found.collect()
        });
        Box::new(trashed)
    }

    fn changes_to<'a>(&'a self, id: &MemoryId) -> Box<dyn Iterator<Item = Result<Recorded<RecordedChange>, StoreError>> + 'a> {
        let id = *id;
        Box::new(self.changes_where(move |change| change.id == id))
    }

    fn all_changes(&self) -> Box<dyn Iterator<Item = Result<Recorded<RecordedChange>, StoreError>> + '_> {
        Box::new(self.changes_where(|_| true))
    }

    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError> {
        let loaded = load(self.disk.as_ref(), trash)?;
        let missing = || StoreError::TrashNotFound { reference: trash.to_owned() };
        loaded.map(|loaded| loaded.stored.memory).ok_or_else(missing)
    }

    fn recover(&self) -> Result<(), StoreError> {
        drop(self.lock_for_writing()?);
        self.catch_up()
    }

    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError> {
        let _lock = self.lock_for_writing()?;
        self.retry_outdated(|| self.try_revert(id, undo))
    }

    fn restore(&self, trashed: &TrashedFile, restore: &Operation) -> Result<ChangeOutcome, StoreError> {
        let _lock = self.lock_for_writing()?;
        self.retry_outdated(|| self.try_restore(trashed, restore))
    }

    fn purge(&self, before: chrono::DateTime<chrono::Utc>) -> Result<(u64, u64), StoreError> {
        self.purge_while(before, &mut || true)
    }
}

impl FileStore {
    fn try_revert(&self, id: &OperationId, undo: &Operation) -> Result<Result<RevertedFiles, AppendObstacle>, StoreError> {
        // An interrupted undo has reverted the last changes of the operation.
        let done = self.reverted_count(id)?;
        // All changes are checked before the first one is made.
        let mut later = HashMap::new();
        let mut left = BTreeMap::new();
        let mut conflict = None;
        for change in self.own_changes(id).skip(done) {
            let change = change?;
            let checked = match later.get(&change.id) {
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
            return Err(StoreError::OperationNotFound { wanted: format!("operation {id} was already undone") });
        }
        if let Some(conflict) = conflict {
            let all = self.changes(id).map(|change| change.map(|change| change.id)).collect::<Result<HashSet<_>, _>>()?;
            // The rest of an interrupted undo may be small, and consist of changed files only.
            if all.len() < LARGE_OPERATION || done == 0 && left.len() == later.len() {
                return Err(conflict);
            }
        }
        let (mut steps, mut touched) = (Vec::new(), HashSet::new());
        for change in self.own_changes(id).skip(done) {
            let change = change?;
            // A later part of a long operation may have changed a file of an earlier part again.
            if MAX_FILES_PER_STEP <= steps.len() || touched.contains(&change.id) {
                if let Err(obstacle) = self.apply_steps(undo, Some(id), &steps)? {
                    return Ok(Err(obstacle));
                }
                steps.clear();
                touched.clear();
            }
            touched.insert(change.id);
            if left.contains_key(&change.id) {
                // The step counts as reverted, so that an interrupted undo can be continued.
                steps.push(CommitStep { id: change.id, before: None, after: None, why: Some(CHANGED_SINCE.into()) });
            } else {
                steps.push(revert_step(self.disk.as_ref(), &change)?);
            }
        }
        let reverted = RevertedFiles { files: (later.len() - left.len()) as u64, left: left.into_values().collect() };
        Ok(self.apply_steps(undo, Some(id), &steps)?.map(|()| reverted))
    }

    fn try_restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<Result<ChangeOutcome, AppendObstacle>, StoreError> {
        let bytes = self.read_trash(&trashed.trash)?;
        let live = match self.load_current(&trashed.id) {
            Ok((loaded, _)) => Some(replaced_file(&loaded)),
            Err(StoreError::NotFound { .. }) if self.has_left(trashed)? => return self.restore_copy(trashed, &bytes, restore),
            Err(StoreError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        // A version with another access key must not become one that other principals read.
        let has_same_key = |live: &&ReplacedFile| self.replica.is_none() || have_same_key(&live.path, &trashed.path);
        let path = live.as_ref().filter(has_same_key).map_or(&trashed.path, |live| &live.path).clone();
        let is_moved = live.as_ref().is_none_or(|live| live.path != path);
        let is_taken = is_moved && load(self.disk.as_ref(), &path)?.is_some();
        if is_taken {
            return Err(StoreError::Conflict { what: path });
        }
        let step = CommitStep { id: trashed.id, before: live, after: Some(PlannedFile { path: path.clone(), bytes }), why: None };
        Ok(self.apply_steps(restore, None, &[step])?.map(|()| ChangeOutcome::Kept { id: trashed.id, path }))
    }

    /// Returns whether an operation moved a memory from the scopes of this node into others, and so left a version in the trash.
    ///
    /// The memory then exists, and this node does not see it.
    fn has_left(&self, trashed: &TrashedFile) -> Result<bool, StoreError> {
        if self.principal_name()?.is_none() {
            return Ok(false);
        }
        let mut wanted = trashed.operation.id.clone();
        for record in self.journaled_operations() {
            let record = record?;
            if record.operation.id == wanted {
                let Some(undone) = record.undoes else {
                    return Ok(matches!(record.operation.verb, Verb::Update | Verb::Accept | Verb::Restore));
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
    ) -> Result<Result<ChangeOutcome, AppendObstacle>, StoreError> {
        let (former, _) = read_document(&trashed.path, bytes);
        // The id depends only on the operation, so a repeated attempt restores the same memory.
        let id = MemoryId::for_path(&format!("restored/{}/{}", restore.id, trashed.id));
        let memory = Memory { id, ..former };
        let key = key_of_file(&trashed.path, &memory.scope, self.principal_name()?.as_deref());
        let name = name_with_key(&generated_name(&memory), &key);
        let path = format!("{}/{name}", parent_folder(&trashed.path));
        if load(self.disk.as_ref(), &path)?.is_some() {
            return Err(StoreError::Conflict { what: path });
        }
        let bytes = markdown::rewrite(&path, bytes, &memory).map_err(StoreError::Damaged)?;
        let step = CommitStep { id, before: None, after: Some(PlannedFile { path: path.clone(), bytes }), why: None };
        Ok(self.apply_steps(restore, None, &[step])?.map(|()| ChangeOutcome::Kept { id, path }))
    }

    fn changes_where(
        &self,
        is_wanted: impl Fn(&RecordedChange) -> bool,
    ) -> impl Iterator<Item = Result<Recorded<RecordedChange>, StoreError>> {
        mark_undone_lazily(self.journaled_operations()).flat_map(move |record| match record {
            Ok(mut record) => {
                let changes = std::mem::take(&mut record.subject.changes);
                let wanted = changes.into_iter().rev().filter(|change| is_wanted(change) && !change.is_placeholder());
                wanted.map(|change| Ok(record.clone().map(|_| change))).collect::<Vec<_>>()
            }
            Err(error) => vec![Err(error)],
        })
    }

    /// Iterates over the operations in the journal that were not aborted, newest first.
    pub(super) fn journaled_operations(&self) -> impl Iterator<Item = Result<Recorded<JournalPayload>, StoreError>> + '_ {
        let (operations, failed) = match self.journal().operations(journal_read_error) {
            Ok(operations) => (Some(operations), None),
            Err(error) => (None, Some(Err(error))),
        };
        operations.into_iter().flatten().chain(failed)
    }

    fn read_records(&self) -> Result<Vec<OperationRecord>, StoreError> {
        let mut records = Vec::<OperationRecord>::new();
        let mut position = HashMap::<OperationId, usize>::new();
        // The undo of each operation, and the number of files reverted by all its undos.
        let mut undone = HashMap::<OperationId, (OperationId, u64)>::new();
        let mut ours = Vec::<u64>::new();
        for begun in self.journaled_operations() {
            let Recorded { operation, undoes, subject: JournalPayload { changes }, .. } = begun?;
            let id = operation.id.clone();
            let files = changes.len() as u64;
            let own = changes.iter().filter(|change| change.is_own_change()).count() as u64;
            let undone_by = undone.get(&id).map(|(undo, _)| undo.clone());
            // An undo that was itself undone has no effect.
            if let Some(undoes) = undoes.as_ref().filter(|_| undone_by.is_none()) {
                undone.entry(undoes.clone()).or_insert_with(|| (id.clone(), 0)).1 += files;
            }
            if let Some(known) = position.get(&id) {
                // An earlier part of an operation that is listed by its last part.
                records[*known].subject.count += files;
                ours[*known] += own;
                continue;
            }
            position.insert(id.clone(), records.len());
            records.push(OperationRecord { operation, subject: ChangedFiles { count: files }, undoes, undone_by });
            ours.push(own);
        }
        // An interrupted undo can be continued.
        for (record, own) in records.iter_mut().zip(ours) {
            if undone.get(&record.operation.id).is_some_and(|(_, taken_back)| *taken_back < own) {
                record.undone_by = None;
            }
        }
        Ok(records)
    }

    /// Iterates over the changes of `id` itself, last first.
    fn own_changes<'a>(&'a self, id: &OperationId) -> impl Iterator<Item = Result<RecordedChange, StoreError>> + 'a {
        self.changes(id).filter(|change| change.as_ref().map_or(true, RecordedChange::is_own_change))
    }

    /// Returns the number of changes of `id` that are reverted.
    fn reverted_count(&self, id: &OperationId) -> Result<usize, StoreError> {
        let records = self.read_records()?;
        let undos = records.iter().filter(|record| record.undoes.as_ref() == Some(id) && record.undone_by.is_none());
        Ok(undos.map(|undo| usize::try_from(undo.subject.count).unwrap_or(usize::MAX)).sum())
    }

    /// Checks that `change` can be reverted after a later one of the same operation.
    ///
    /// The later change found the file in the state `next`.
    fn check_revertible(&self, change: &RecordedChange, next: Option<&RecordedFile>) -> Result<(), StoreError> {
        let state = |file: Option<&RecordedFile>| file.map(|file| (file.path.clone(), file.hash));
        if state(change.after.as_ref()) != state(next) {
            let file = change.after.as_ref().or(next);
            return Err(StoreError::Conflict { what: file.map(|file| file.path.clone()).unwrap_or_default() });
        }
        let Some(former) = &change.before else { return Ok(()) };
        let trash = former.trash.as_deref().ok_or_else(|| StoreError::TrashNotFound { reference: former.path.clone() })?;
        self.read_trash(trash).map(drop)
    }

    fn read_trash(&self, trash: &str) -> Result<Vec<u8>, StoreError> {
        match self.disk.read(trash) {
            Ok(Some((bytes, _))) => Ok(bytes),
            Ok(None) => Err(StoreError::TrashNotFound { reference: trash.to_owned() }),
            Err(error) => Err(io_error(format!("read {trash}"), error)),
        }
    }
}
