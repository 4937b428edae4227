//! A store with only the methods that have no default.

use chrono::{DateTime, Utc};
use memory_core::secret::Checked;
use memory_core::{
    ChangeOutcome, ChangeSet, Filter, History, MemStore, Memory, MemoryId, MemoryStore, Operation,
    OperationId, OperationRecord, RecordedChange, RevertedFiles, StoreError, StoreResults,
    StoredMemory, TrashedFile,
};

/// A store that reads all memories for every list and search.
#[derive(Debug, Default)]
pub(crate) struct MinimalStore(MemStore);

impl MemoryStore for MinimalStore {
    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        self.0.get(id)
    }

    fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> StoreResults<'_, StoredMemory> {
        self.0.memories(filter, now)
    }

    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError> {
        self.0.commit(set)
    }

    fn count_access(&self, ids: &[MemoryId]) {
        self.0.count_access(ids);
    }
}

impl History for MinimalStore {
    fn records(&self) -> StoreResults<'_, OperationRecord> {
        self.0.records()
    }

    fn changes(&self, id: &OperationId) -> StoreResults<'_, RecordedChange> {
        self.0.changes(id)
    }

    fn trashed(&self) -> StoreResults<'_, TrashedFile> {
        self.0.trashed()
    }

    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError> {
        self.0.memory_in_trash(trash)
    }

    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError> {
        self.0.revert(id, undo)
    }

    fn restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<ChangeOutcome, StoreError> {
        self.0.restore(trashed, restore)
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError> {
        self.0.purge(before)
    }
}
