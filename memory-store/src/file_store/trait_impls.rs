//! The store traits of the use cases.

use chrono::{DateTime, Utc};
use memory_core::query_parser::TextQuery;
use memory_core::secret::Checked;
use memory_core::spelling::WordCorrection;
use memory_core::wikilink::WikilinkCandidate;
use memory_core::{
    CachedAnalysis, ChangeOutcome, ChangeSet, Connections, ContentHash, FacetCounts, FileVersion,
    Filter, MemoryId, MemoryPage, MemoryStore, MemorySummary, NameMatch, Origin, PageRequest,
    ReminderQuery, Scope, SearchRequest, SearchResults, StoreError, StoreResults, StoredMemory,
    TextVector,
};

use super::FileStore;
use crate::index::RefreshDepth;
use crate::markdown::is_version;

impl MemoryStore for FileStore {
    fn refresh(&self) -> Result<(), StoreError> {
        self.catch_up()?;
        self.recover_if_idle();
        self.index.refresh(self.refresh_depth())
    }

    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError> {
        self.catch_up()?;
        let (loaded, unfolded) = self.load_current(id)?;
        let mut stored = loaded.stored;
        stored.memory.access_count = stored.memory.access_count.saturating_add(unfolded);
        Ok(stored)
    }

    fn find_matches(
        &self,
        reference: &str,
        within: Option<&[Scope]>,
    ) -> Result<Vec<NameMatch>, StoreError> {
        self.catch_up()?;
        // A complete id names one memory, regardless of its path. A shorter reference may match new files of other programs.
        let is_there = |id: &MemoryId| self.index.locate(id).map(|place| place.is_some());
        let is_whole = reference
            .parse()
            .ok()
            .as_ref()
            .map(is_there)
            .transpose()?
            .unwrap_or(false);
        if !is_whole {
            self.index.refresh(RefreshDepth::Names)?;
        }
        let found = self.index.resolve(reference, within)?;
        if found.is_empty() {
            // An unreadable file exists too, so the reference is not reported as unknown.
            let unreadable = self
                .index
                .unreadable_files()?
                .into_iter()
                .find(|problem| matches_reference(&problem.path, reference));
            unreadable.map_or(Ok(()), |problem| Err(StoreError::Damaged(problem)))?;
        }
        Ok(found
            .into_iter()
            .map(|(id, path)| NameMatch { id, path })
            .collect())
    }

    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError> {
        let _lock = self.lock_for_writing()?;
        self.retry_outdated(|| {
            let plan = self.plan(&set)?;
            self.apply_steps(&set.operation, None, &plan.steps)?;
            Ok(plan.outcomes)
        })
    }

    fn list(
        &self,
        filter: &Filter,
        slice: &PageRequest,
        now: DateTime<Utc>,
    ) -> Result<MemoryPage, StoreError> {
        let page = self.index.list(filter, slice, now)?;
        Ok(MemoryPage {
            degraded: self.with_replica_lag(page.degraded),
            ..page
        })
    }

    fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<SearchResults, StoreError> {
        let found = self.index.search(asked, now)?;
        Ok(SearchResults {
            degraded: self.with_replica_lag(found.degraded),
            ..found
        })
    }

    fn speakers(
        &self,
        names: &[String],
        within: Option<&[Scope]>,
    ) -> Result<Vec<String>, StoreError> {
        self.index.speakers(names, within)
    }

    fn correct_words(
        &self,
        question: &TextQuery,
        within: Option<&[Scope]>,
    ) -> Result<Vec<WordCorrection>, StoreError> {
        self.index.correct_words(question, within)
    }

    fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> StoreResults<'_, StoredMemory> {
        Box::new(self.index.memories(filter, now))
    }

    fn by_origin(
        &self,
        origin: &Origin,
        scope: &Scope,
    ) -> Result<Option<StoredMemory>, StoreError> {
        let principal = self.principal_name()?;
        self.index.by_origin(origin, |stored| match &principal {
            Some(principal) if stored.memory.scope != *scope => self.was_private(stored, principal),
            _ => Ok(true),
        })
    }

    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError> {
        self.index.by_content(hash, scope)
    }

    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError> {
        self.index.referring(id, keys)
    }

    fn reminders(
        &self,
        wanted: ReminderQuery,
        within: Option<&[Scope]>,
        limit: Option<usize>,
    ) -> Result<MemoryPage, StoreError> {
        let page = self.index.reminders(wanted, within, limit)?;
        Ok(MemoryPage {
            degraded: self.with_replica_lag(page.degraded),
            ..page
        })
    }

    fn count_access(&self, ids: &[MemoryId]) {
        self.index.count_access(ids);
    }

    fn write_access_counts(&self, now: DateTime<Utc>) -> Result<u64, StoreError> {
        self.write_counts(now)
    }

    fn has_version(&self, id: &MemoryId, expected: FileVersion) -> Result<bool, StoreError> {
        let (loaded, _) = self.load_current(id)?;
        Ok(is_version(&loaded.bytes, expected.0))
    }

    fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError> {
        self.index.name_candidates(key)
    }

    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        self.index.without_vectors(identity)
    }

    fn count_without_vector(&self, identity: &str) -> Result<u64, StoreError> {
        self.index.count_without_vectors(identity)
    }

    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError> {
        self.index.has_vectors(identity)
    }

    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError> {
        let _lock = self.lock_for_writing()?;
        self.index.store_vectors(identity, vectors)
    }

    fn facets(
        &self,
        question: Option<&TextQuery>,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<FacetCounts, StoreError> {
        self.index.facets(question, filter, now)
    }

    fn tagged(
        &self,
        tag: &str,
        within: Option<&[Scope]>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        self.index.tagged(tag, within, limit, now)
    }

    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        self.index.summaries()
    }

    fn connections(&self, filter: &Filter, now: DateTime<Utc>) -> Result<Connections, StoreError> {
        self.index.connections(filter, now)
    }

    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError> {
        self.index.scopes(ids)
    }

    fn store_analyses(&self, impressions: &[CachedAnalysis]) -> Result<(), StoreError> {
        let _lock = self.lock_for_writing()?;
        self.index.store_analyses(impressions)
    }
}

/// Returns whether the name of a file matches `reference`.
///
/// The reference is the stem, or the stem ends in the first digits of the referenced id.
fn matches_reference(path: &str, reference: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let digits = reference.replace('-', "").to_lowercase();
    let is_id = 4 <= digits.len() && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    let ends =
        |short: &str| short.len() == 8 && (short.starts_with(&digits) || digits.starts_with(short));
    stem == reference || is_id && stem.rsplit('-').next().is_some_and(ends)
}
