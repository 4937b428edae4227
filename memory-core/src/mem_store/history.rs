//! The in-memory log of operations.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};

use super::{JournalEntry, MemFile, MemStore};
use crate::{
    ChangeOutcome, ChangeSet, ChangedFiles, History, LARGE_OPERATION, Memory, MemoryId, Operation,
    OperationId, OperationRecord, RecordedChange, RecordedFile, RevertedFiles, StoreError,
    StoreResults, TrashedFile, mark_undone,
};

fn trash_path(operation: &OperationId, path: &str) -> String {
    format!(
        "trash/{operation}/{}",
        path.rsplit('/').next().unwrap_or(path)
    )
}

/// Returns the changes of a journal entry, last first.
fn recorded_changes(entry: &JournalEntry) -> Vec<RecordedChange> {
    let file = |operation: Option<&OperationId>, file: &MemFile| RecordedFile {
        path: file.path.clone(),
        hash: file.stamp.0,
        trash: operation.map(|operation| trash_path(operation, &file.path)),
    };
    let recorded = |(id, before, after): &(MemoryId, Option<MemFile>, Option<MemFile>)| {
        let before = before
            .as_ref()
            .map(|before| file(Some(&entry.operation.id), before));
        let why = entry.reasons.get(id).cloned();
        RecordedChange {
            id: *id,
            before,
            after: after.as_ref().map(|after| file(None, after)),
            why,
        }
    };
    entry.changes.iter().rev().map(recorded).collect()
}

impl MemStore {
    fn trashed_file(&self, trash: &str) -> Result<MemFile, StoreError> {
        let state = self.state();
        let mut former = state.journal.iter().flat_map(|entry| {
            let files = entry
                .changes
                .iter()
                .filter_map(|(_, before, _)| before.as_ref());
            files.map(|file| (trash_path(&entry.operation.id, &file.path), file))
        });
        let found = former
            .find(|(path, _)| path == trash)
            .map(|(_, file)| file.clone());
        found.ok_or_else(|| StoreError::TrashNotFound {
            reference: trash.to_owned(),
            earlier: None,
        })
    }
}

impl History for MemStore {
    fn records(&self) -> StoreResults<'_, OperationRecord> {
        let mut records = Vec::<OperationRecord>::new();
        for entry in self.state().journal.iter().rev() {
            let count = entry.changes.len() as u64;
            match records
                .iter_mut()
                .find(|record| record.operation.id == entry.operation.id)
            {
                Some(known) => known.subject.count += count,
                None => records.push(OperationRecord {
                    operation: entry.operation.clone(),
                    subject: ChangedFiles {
                        count,
                        by_other: false,
                    },
                    undoes: entry.undoes.clone(),
                    undone_by: None,
                }),
            }
        }
        mark_undone(&mut records);
        Box::new(records.into_iter().map(Ok))
    }

    fn changes(&self, id: &OperationId) -> StoreResults<'_, RecordedChange> {
        let state = self.state();
        let entries = state
            .journal
            .iter()
            .rev()
            .filter(|entry| entry.operation.id == *id);
        let changes: Vec<_> = entries.flat_map(recorded_changes).map(Ok).collect();
        Box::new(changes.into_iter())
    }

    fn trashed(&self) -> StoreResults<'_, TrashedFile> {
        let mut trashed = Vec::new();
        for entry in self.state().journal.iter().rev() {
            for (id, before, _) in entry.changes.iter().rev() {
                let Some(file) = before else { continue };
                trashed.push(Ok(TrashedFile {
                    id: *id,
                    path: file.path.clone(),
                    trash: trash_path(&entry.operation.id, &file.path),
                    operation: entry.operation.clone(),
                    size: file.memory.content.len() as u64,
                }));
            }
        }
        Box::new(trashed.into_iter())
    }

    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError> {
        Ok(self.trashed_file(trash)?.memory.clone())
    }

    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError> {
        let mut state = self.state();
        let mut wanted = Vec::new();
        let mut later = HashMap::<MemoryId, Option<MemFile>>::new();
        let mut left = BTreeMap::new();
        for entry in state
            .journal
            .iter()
            .rev()
            .filter(|entry| entry.operation.id == *id)
        {
            for (id, before, after) in entry.changes.iter().rev() {
                if entry.purged.contains(id) {
                    return Err(StoreError::TrashNotFound {
                        reference: id.to_string(),
                        earlier: None,
                    });
                }
                let now = later
                    .get(id)
                    .map_or_else(|| state.files.get(id), Option::as_ref);
                if now != after.as_ref() {
                    let path = now
                        .or(after.as_ref())
                        .map_or_else(|| id.to_string(), |file| file.path.clone());
                    left.entry(*id).or_insert(path);
                }
                later.insert(*id, before.clone());
                wanted.push((*id, before.clone()));
            }
        }
        if let Some(what) = left.values().next()
            && (later.len() < LARGE_OPERATION || left.len() == later.len())
        {
            return Err(StoreError::Conflict { what: what.clone() });
        }
        wanted.retain(|(id, _)| !left.contains_key(id));
        let files = (later.len() - left.len()) as u64;
        state.apply(&ChangeSet::new(undo.clone()), Some(id.clone()), wanted);
        Ok(RevertedFiles {
            files,
            left: left.into_values().collect(),
        })
    }

    fn restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<ChangeOutcome, StoreError> {
        let mut state = self.state();
        let former = state
            .journal
            .iter()
            .filter(|entry| entry.operation.id == trashed.operation.id)
            .flat_map(|entry| &entry.changes);
        let file = former
            .filter(|(id, ..)| *id == trashed.id)
            .find_map(|(_, before, _)| before.clone());
        let file = file.ok_or_else(|| StoreError::TrashNotFound {
            reference: trashed.trash.clone(),
            earlier: None,
        })?;
        let outcome = ChangeOutcome::Kept {
            id: trashed.id,
            path: file.path.clone(),
        };
        state.apply(
            &ChangeSet::new(restore.clone()),
            None,
            vec![(trashed.id, Some(file))],
        );
        Ok(outcome)
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError> {
        let mut state = self.state();
        let (mut files, mut bytes) = (0, 0);
        for entry in state
            .journal
            .iter_mut()
            .filter(|entry| entry.operation.at < before)
        {
            for (id, before, _) in &mut entry.changes {
                let Some(former) = before.take() else {
                    continue;
                };
                entry.purged.insert(*id);
                files += 1;
                bytes += former.memory.content.len() as u64;
            }
        }
        Ok((files, bytes))
    }
}
