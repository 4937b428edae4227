//! Wraps a store of memories in one that counts writes: `cargo run -p examples --bin custom_store`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Utc};
use memory_core::query_parser::TextQuery;
use memory_core::secret::Checked;
use memory_core::wikilink::WikilinkCandidate;
use memory_core::{
    CachedAnalysis, ChangeOutcome, ChangeSet, ContentHash, Embeddings, FacetCounts, FileVersion,
    Filter, History, MemStore, Memories, Memory, MemoryFacets, MemoryId, MemoryPage, MemoryStore,
    MemorySummaries, MemorySummary, NameIndex, NameMatch, Operation, OperationId, OperationRecord,
    Origin, PageRequest, Recorded, RecordedChange, ReminderQuery, RevertedFiles, Scope,
    SearchRequest, SearchResults, StoreError, StoredMemory, TextVector, TrashedFile, Verb,
};

/// A store that counts the committed operations. A clone shares the store and the counter.
#[derive(Debug, Clone, Default)]
struct CountingStore {
    memories: MemStore,
    writes: Arc<AtomicUsize>,
}

/// Passes methods on to the wrapped store.
macro_rules! delegate {
    ($(fn $name:ident(&$self:ident $(, $argument:ident: $type:ty)* $(,)?) $(-> $result:ty)?;)*) => {
        $(fn $name(&$self $(, $argument: $type)*) $(-> $result)? { $self.memories.$name($($argument),*) })*
    };
}

type Results<'a, T> = Box<dyn Iterator<Item = Result<T, StoreError>> + 'a>;

impl MemoryStore for CountingStore {
    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError> {
        let outcomes = self.memories.commit(set)?;
        self.writes.fetch_add(1, Ordering::Relaxed);
        Ok(outcomes)
    }

    delegate! {
        fn refresh(&self) -> Result<(), StoreError>;
        fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError>;
        fn find_matches(&self, reference: &str, within: Option<&[Scope]>) -> Result<Vec<NameMatch>, StoreError>;
        fn list(&self, filter: &Filter, slice: &PageRequest, now: DateTime<Utc>) -> Result<MemoryPage, StoreError>;
        fn search(&self, asked: &SearchRequest<'_>, now: DateTime<Utc>) -> Result<SearchResults, StoreError>;
        fn speakers(&self, names: &[String], within: Option<&[Scope]>) -> Result<Vec<String>, StoreError>;
        fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> Results<'_, StoredMemory>;
        fn by_origin(&self, origin: &Origin, scope: &Scope) -> Result<Option<StoredMemory>, StoreError>;
        fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError>;
        fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError>;
        fn reminders(&self, wanted: ReminderQuery, within: Option<&[Scope]>, limit: Option<usize>) -> Result<MemoryPage, StoreError>;
        fn count_access(&self, ids: &[MemoryId]);
        fn write_access_counts(&self, now: DateTime<Utc>) -> Result<u64, StoreError>;
        fn has_version(&self, id: &MemoryId, expected: FileVersion) -> Result<bool, StoreError>;
    }
}

impl NameIndex for CountingStore {
    delegate! {
        fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError>;
    }
}

impl Embeddings for CountingStore {
    delegate! {
        fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError>;
        fn count_without_vector(&self, identity: &str) -> Result<u64, StoreError>;
        fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError>;
        fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError>;
    }
}

impl MemoryFacets for CountingStore {
    delegate! {
        fn facets(&self, question: Option<&TextQuery>, filter: &Filter, now: DateTime<Utc>) -> Result<FacetCounts, StoreError>;
        fn tagged(
            &self,
            tag: &str,
            within: Option<&[Scope]>,
            limit: usize,
            now: DateTime<Utc>,
        ) -> Result<Vec<StoredMemory>, StoreError>;
    }
}

impl MemorySummaries for CountingStore {
    delegate! {
        fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError>;
        fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError>;
        fn store_analyses(&self, analyses: &[CachedAnalysis]) -> Result<(), StoreError>;
    }
}

impl History for CountingStore {
    delegate! {
        fn records(&self) -> Results<'_, OperationRecord>;
        fn changes(&self, id: &OperationId) -> Results<'_, RecordedChange>;
        fn changes_of(&self, verb: Verb) -> Results<'_, RecordedChange>;
        fn trashed(&self) -> Results<'_, TrashedFile>;
        fn changes_to(&self, id: &MemoryId) -> Results<'_, Recorded<RecordedChange>>;
        fn all_changes(&self) -> Results<'_, Recorded<RecordedChange>>;
        fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError>;
        fn trash_has_version(&self, trash: &str, expected: FileVersion) -> Result<bool, StoreError>;
        fn recover(&self) -> Result<(), StoreError>;
        fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError>;
        fn restore(&self, trashed: &TrashedFile, restore: &Operation) -> Result<ChangeOutcome, StoreError>;
        fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError>;
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
