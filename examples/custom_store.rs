//! Wraps a store of memories in one that counts writes: `cargo run -p examples --bin custom_store`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Utc};
use memory_core::secret::Checked;
use memory_core::{
    ChangeOutcome, ChangeSet, Filter, History, MemStore, Memories, Memory, MemoryId, MemoryStore,
    Operation, OperationId, OperationRecord, RecordedChange, RevertedFiles, StoreError,
    StoreResults, StoredMemory, TrashedFile,
};

/// A store that counts the committed operations. A clone shares the store and the counter.
///
/// The methods that it leaves out, such as `search`, read all memories.
#[derive(Debug, Clone, Default)]
struct CountingStore {
    memories: MemStore,
    writes: Arc<AtomicUsize>,
}

impl MemoryStore for CountingStore {
    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        self.memories.get(id)
    }

    fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> StoreResults<'_, StoredMemory> {
        self.memories.memories(filter, now)
    }

    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError> {
        let outcomes = self.memories.commit(set)?;
        self.writes.fetch_add(1, Ordering::Relaxed);
        Ok(outcomes)
    }
}

impl History for CountingStore {
    fn records(&self) -> StoreResults<'_, OperationRecord> {
        self.memories.records()
    }

    fn changes(&self, id: &OperationId) -> StoreResults<'_, RecordedChange> {
        self.memories.changes(id)
    }

    fn trashed(&self) -> StoreResults<'_, TrashedFile> {
        self.memories.trashed()
    }

    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError> {
        self.memories.memory_in_trash(trash)
    }

    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError> {
        self.memories.revert(id, undo)
    }

    fn restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<ChangeOutcome, StoreError> {
        self.memories.restore(trashed, restore)
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError> {
        self.memories.purge(before)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let store = CountingStore::default();
    let memories = Memories::builder(store.clone())
        .actor("custom_store")
        .build();
    memories.write("The user prefers dark mode")?;
    memories.write("The user prefers tea")?;
    memories.undo()?;
    println!(
        "{} writes, {} hit",
        store.writes.load(Ordering::Relaxed),
        memories.search("user")?.total
    );
    Ok(())
}
