//! The traits of a store of memories for `Arc<S>` and `&S`, so that a program can share its store.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::query_parser::TextQuery;
use crate::secret::Checked;
use crate::wikilink::WikilinkCandidate;
use crate::{
    CachedAnalysis, ChangeOutcome, ChangeSet, ContentHash, Embeddings, FacetCounts, FileVersion,
    Filter, History, Memory, MemoryFacets, MemoryId, MemoryPage, MemoryStore, MemorySummaries,
    MemorySummary, NameIndex, NameMatch, Operation, OperationId, OperationRecord, Origin,
    PageRequest, Recorded, RecordedChange, ReminderQuery, RevertedFiles, Scope, SearchRequest,
    SearchResults, StoreError, StoredMemory, TextVector, TrashedFile, Verb,
};

/// Implements a trait for pointers to its implementations.
macro_rules! implement_for_pointers {
    ($trait:ident {
        $(fn $method:ident $(<$life:lifetime>)? (&$($own:lifetime)? $self:ident $(, $name:ident: $type:ty)*) $(-> $result:ty)?;)*
    }) => {
        implement_for_pointers!(Arc<S>, $trait {
            $(fn $method $(<$life>)? (&$($own)? $self $(, $name: $type)*) $(-> $result)?;)*
        });
        implement_for_pointers!(&S, $trait {
            $(fn $method $(<$life>)? (&$($own)? $self $(, $name: $type)*) $(-> $result)?;)*
        });
    };
    ($pointer:ty, $trait:ident {
        $(fn $method:ident $(<$life:lifetime>)? (&$($own:lifetime)? $self:ident $(, $name:ident: $type:ty)*) $(-> $result:ty)?;)*
    }) => {
        impl<S: $trait + ?Sized> $trait for $pointer {
            $(fn $method $(<$life>)? (&$($own)? $self $(, $name: $type)*) $(-> $result)? {
                S::$method($self $(, $name)*)
            })*
        }
    };
}

implement_for_pointers!(MemoryStore {
    fn refresh(&self) -> Result<(), StoreError>;
    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError>;
    fn find_matches(&self, reference: &str, within: Option<&[Scope]>) -> Result<Vec<NameMatch>, StoreError>;
    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError>;
    fn list(&self, filter: &Filter, slice: &PageRequest, now: DateTime<Utc>) -> Result<MemoryPage, StoreError>;
    fn search(&self, asked: &SearchRequest<'_>, now: DateTime<Utc>) -> Result<SearchResults, StoreError>;
    fn speakers(&self, names: &[String], within: Option<&[Scope]>) -> Result<Vec<String>, StoreError>;
    fn memories<'a>(
        &'a self,
        filter: &Filter,
        now: DateTime<Utc>
    ) -> Box<dyn Iterator<Item = Result<StoredMemory, StoreError>> + 'a>;
    fn by_origin(&self, origin: &Origin, scope: &Scope) -> Result<Option<StoredMemory>, StoreError>;
    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError>;
    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError>;
    fn reminders(&self, wanted: ReminderQuery, within: Option<&[Scope]>, limit: Option<usize>) -> Result<MemoryPage, StoreError>;
    fn count_access(&self, ids: &[MemoryId]);
    fn write_access_counts(&self, now: DateTime<Utc>) -> Result<u64, StoreError>;
    fn has_version(&self, id: &MemoryId, expected: FileVersion) -> Result<bool, StoreError>;
});

implement_for_pointers!(NameIndex {
    fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError>;
});

implement_for_pointers!(Embeddings {
    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError>;
    fn count_without_vector(&self, identity: &str) -> Result<u64, StoreError>;
    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError>;
    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError>;
});

implement_for_pointers!(MemoryFacets {
    fn facets(&self, question: Option<&TextQuery>, filter: &Filter, now: DateTime<Utc>) -> Result<FacetCounts, StoreError>;
    fn tagged(
        &self,
        tag: &str,
        within: Option<&[Scope]>,
        limit: usize,
        now: DateTime<Utc>
    ) -> Result<Vec<StoredMemory>, StoreError>;
});

implement_for_pointers!(MemorySummaries {
    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError>;
    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError>;
    fn store_analyses(&self, impressions: &[CachedAnalysis]) -> Result<(), StoreError>;
});

implement_for_pointers!(History {
    fn records(&self) -> Box<dyn Iterator<Item = Result<OperationRecord, StoreError>> + '_>;
    fn changes<'a>(&'a self, id: &OperationId) -> Box<dyn Iterator<Item = Result<RecordedChange, StoreError>> + 'a>;
    fn changes_of(&self, verb: Verb) -> Box<dyn Iterator<Item = Result<RecordedChange, StoreError>> + '_>;
    fn trashed(&self) -> Box<dyn Iterator<Item = Result<TrashedFile, StoreError>> + '_>;
    fn changes_to<'a>(&'a self, id: &MemoryId) -> Box<dyn Iterator<Item = Result<Recorded<RecordedChange>, StoreError>> + 'a>;
    fn all_changes(&self) -> Box<dyn Iterator<Item = Result<Recorded<RecordedChange>, StoreError>> + '_>;
    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError>;
    fn trash_has_version(&self, trash: &str, expected: FileVersion) -> Result<bool, StoreError>;
    fn recover(&self) -> Result<(), StoreError>;
    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError>;
    fn restore(&self, trashed: &TrashedFile, restore: &Operation) -> Result<ChangeOutcome, StoreError>;
    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError>;
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemStore, Memories};

    #[test]
    fn two_programs_share_one_store() {
        let store = Arc::new(MemStore::default());
        let (one, other) = (
            Memories::builder(Arc::clone(&store)).build(),
            Memories::builder(store).build(),
        );
        let id = one.write("The user prefers dark mode").unwrap().id;
        assert_eq!(other.search("dark mode").unwrap().hits[0].memory.id, id);
        other.undo().unwrap();
        assert!(one.search("dark mode").unwrap().hits.is_empty());
    }
}
