//! The store as the use cases see it.

use chrono::{DateTime, Utc};
use memory_core::wikilink::Candidate;
use memory_core::{
    Asked, ContentHash, Embeddings, Filter, Found, Impression, MemoryId, MemoryStore, Names, Operation, Origin, Outcome, Outline,
    Outlines, Page, Reminders, Scope, Slice, StoreError, Stored, TextVector,
};

use super::FileStore;
use crate::index::Depth;

/// How many candidates an ambiguous reference names.
const CANDIDATES: usize = 5;

impl Names for FileStore {
    fn named(&self, key: &str) -> Result<Vec<Candidate>, StoreError> {
        self.index.named(key)
    }
}

impl Embeddings for FileStore {
    fn lacking(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        self.index.lacking(identity)
    }

    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError> {
        self.index.has_vectors(identity)
    }

    fn cosines(&self, pairs: &[(MemoryId, MemoryId)]) -> Result<Vec<Option<f32>>, StoreError> {
        self.index.cosines(pairs)
    }

    fn keep_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError> {
        let _lock = self.begin()?;
        self.index.keep_vectors(identity, vectors)
    }
}

impl Outlines for FileStore {
    fn outlines(&self) -> Result<Vec<Outline>, StoreError> {
        self.index.outlines()
    }

    fn keep_impressions(&self, impressions: &[Impression]) -> Result<(), StoreError> {
        let _lock = self.begin()?;
        self.index.keep_impressions(impressions)
    }
}

impl MemoryStore for FileStore {
    fn refresh(&self) -> Result<(), StoreError> {
        self.index.refresh(self.depth())
    }

    fn get(&self, id: &MemoryId) -> Result<Stored, StoreError> {
        let (loaded, unfolded) = self.current(id)?;
        let mut stored = loaded.stored;
        stored.memory.access_count = stored.memory.access_count.saturating_add(unfolded);
        Ok(stored)
    }

    fn find(&self, reference: &str) -> Result<MemoryId, StoreError> {
        if reference.trim().is_empty() {
            return Err(StoreError::Invalid { why: "the name of a memory is missing".into() });
        }
        // A whole id stands for one memory, wherever its file is; of anything shorter, another program may have made more.
        if let Ok(id) = reference.parse::<MemoryId>()
            && self.index.place(&id)?.is_some()
        {
            return Ok(id);
        }
        self.index.refresh(Depth::Names)?;
        match self.index.resolve(reference)?.as_slice() {
            [] => Err(StoreError::NotFound { reference: reference.to_owned() }),
            [(id, _)] => Ok(*id),
            several => {
                let candidates = several.iter().take(CANDIDATES).map(|(id, path)| format!("{id} ({path})")).collect();
                Err(StoreError::Ambiguous { reference: reference.to_owned(), candidates })
            }
        }
    }

    fn commit(&self, operation: &Operation) -> Result<Vec<Outcome>, StoreError> {
        let _lock = self.begin()?;
        let plan = self.plan(operation)?;
        self.finish(operation, None, &plan.steps)?;
        Ok(plan.outcomes)
    }

    fn list(&self, filter: &Filter, slice: &Slice, now: DateTime<Utc>) -> Result<Page, StoreError> {
        self.index.list(filter, slice, now)
    }

    fn search(&self, asked: &Asked<'_>, now: DateTime<Utc>) -> Result<Found, StoreError> {
        self.index.search(asked, now)
    }

    fn speakers(&self, names: &[String]) -> Result<Vec<String>, StoreError> {
        self.index.speakers(names)
    }

    fn memories<'a>(&'a self, filter: &Filter, now: DateTime<Utc>) -> Box<dyn Iterator<Item = Result<Stored, StoreError>> + 'a> {
        Box::new(self.index.memories(filter, now))
    }

    fn by_origin(&self, origin: &Origin) -> Result<Option<Stored>, StoreError> {
        self.index.by_origin(origin)
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Option<MemoryId>, StoreError> {
        self.index.by_content(hash, scope)
    }

    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<Stored>, StoreError> {
        self.index.referring(id, keys)
    }

    fn reminders(&self, wanted: Reminders, limit: Option<usize>) -> Result<Page, StoreError> {
        self.index.reminders(wanted, limit)
    }

    fn count_access(&self, ids: &[MemoryId]) {
        self.index.count_access(ids);
    }
}
