//! The storage interface of memories.

pub(crate) mod scan;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::slice;

use chrono::{DateTime, Utc};

use crate::query_parser::TextQuery;
use crate::secret::Checked;
use crate::spelling::{ScannedVocabulary, WordCorrection, correct_words};
use crate::wikilink::WikilinkCandidate;
use crate::{
    CachedAnalysis, ChangeOutcome, ChangeSet, Connections, ContentHash, FacetCounter, FacetCounts,
    FileVersion, Filter, MatchCoverage, Memory, MemoryId, MemoryPage, MemorySummary, Origin,
    PageRequest, Ranking, ReminderQuery, Scope, SearchRequest, SearchResults, StoreError,
    StoredMemory, TextVector,
};

/// A memory that matches a reference by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameMatch {
    /// The memory.
    pub id: MemoryId,
    /// The path below the home.
    pub path: String,
}

/// An iterator over what a store reads.
pub type StoreResults<'a, T> = Box<dyn Iterator<Item = Result<T, StoreError>> + 'a>;

/// A store of memories. Every implementation passes `testing::store_suite`.
///
/// An implementation needs [`MemoryStore::get`], [`MemoryStore::memories`] and [`MemoryStore::commit`]. The default of another method reads
/// all memories, or does without the feature: caches, vectors and access counts. A large store has an index instead. A store
/// that wraps another one forwards every method: the defaults of `refresh`, `has_version` and `write_access_counts` suit only a store without files.
///
/// All methods may be called from any thread and from multiple processes concurrently. The returned content is always
/// that of the current files. The set of files is at least as recent as the last [`MemoryStore::refresh`].
pub trait MemoryStore: Debug + Send + Sync {
    /// Returns the current memory, including the accesses that its file does not contain yet.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if it does not exist; [`StoreError::Damaged`] if its file cannot be read as text.
    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError>;

    /// Iterates over all memories that pass `filter`, oldest first.
    fn memories(&self, filter: &Filter, now: DateTime<Utc>) -> StoreResults<'_, StoredMemory>;

    /// Commits `set` atomically.
    ///
    /// Once the call returns, the changes survive a crash and a power loss. All changes of an operation share one sync,
    /// so a large operation costs little more than a small one. Previous files move to the trash unchanged, and the
    /// journal records the information for undo.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if a file does not have the expected version. Then nothing has changed.
    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError>;

    /// Detects files that other programs created, moved, changed or deleted.
    ///
    /// Every use case that reads more than single memories calls it first. [`MemoryStore::find_matches`] and
    /// [`MemoryStore::get`] detect changes themselves.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn refresh(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the memories that match `reference`, only those `within` these scopes if given.
    ///
    /// `reference` is not empty. It is an id, a prefix of at least 4 digits of an id, or a file stem. If there is more
    /// than one match, the list may be incomplete.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn find_matches(
        &self,
        reference: &str,
        within: Option<&[Scope]>,
    ) -> Result<Vec<NameMatch>, StoreError> {
        let mut all = read_all(self, &Filter::all().within(within))?;
        all.extend(read_all(self, &Filter::proposals().within(within))?);
        all.retain(|stored| {
            4 <= reference.len() && stored.memory.id.to_string().starts_with(reference)
        });
        let name = |stored: StoredMemory| NameMatch {
            id: stored.memory.id,
            path: stored.path,
        };
        Ok(all.into_iter().map(name).collect())
    }

    /// Returns the memories and attachments with the name `key`, see [`crate::wikilink::lookup_keys`].
    ///
    /// The id of a superseded memory is a name of its replacement ([`crate::Memory::supersedes`]).
    ///
    /// # Errors
    /// If the files cannot be read.
    fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError> {
        let memories = read_all(self, &Filter::all())?;
        let ids: HashSet<MemoryId> = memories.iter().map(|stored| stored.memory.id).collect();
        let exists = |id: &MemoryId| ids.contains(id);
        Ok(memories
            .iter()
            .flat_map(|stored| scan::name_candidates(stored, key, exists))
            .collect())
    }

    /// Returns one slice of the memories that pass `filter`, and their total number.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn list(
        &self,
        filter: &Filter,
        slice: &PageRequest,
        now: DateTime<Utc>,
    ) -> Result<MemoryPage, StoreError> {
        let memories = self.memories(filter, now).collect::<Result<_, _>>()?;
        Ok(scan::page(memories, slice))
    }

    /// Returns the memories that match the request, best first. Filters apply before the limit.
    ///
    /// # Errors
    /// If the search fails. An empty result always means that nothing matches.
    fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<SearchResults, StoreError> {
        let memories = self.memories(asked.filter, now).collect::<Result<_, _>>()?;
        Ok(scan::search(memories, asked, &BTreeMap::new()))
    }

    /// Returns the corrections of the words of a query that no memory contains, only `within` these scopes if given.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn correct_words(
        &self,
        question: &TextQuery,
        within: Option<&[Scope]>,
    ) -> Result<Vec<WordCorrection>, StoreError> {
        let vocabulary = ScannedVocabulary::new(&read_all(self, &Filter::all().within(within))?);
        let Ok(corrections) = correct_words(question, &vocabulary);
        Ok(corrections)
    }

    /// Returns those of `names` that occur in the name of a speaker, only `within` these scopes if given.
    ///
    /// `names` are in lower case. The name of a speaker is the source of a conversation turn or the agent that owns a
    /// memory, and each of its words counts. The result may be incomplete if the index is damaged.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn speakers(
        &self,
        names: &[String],
        within: Option<&[Scope]>,
    ) -> Result<Vec<String>, StoreError> {
        let memories = read_all(self, &Filter::all().within(within))?;
        let speaking: HashSet<String> = memories
            .iter()
            .flat_map(|stored| scan::speaker_words(&stored.memory))
            .collect();
        Ok(names
            .iter()
            .filter(|name| speaking.contains(*name))
            .cloned()
            .collect())
    }

    /// Returns the memory that was ingested from `origin` into `scope`, if any.
    ///
    /// It may have been moved into another scope since. A store that several principals share does not return the memories of others in
    /// other scopes, because they would receive the text of the next ingestion.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn by_origin(
        &self,
        origin: &Origin,
        _scope: &Scope,
    ) -> Result<Option<StoredMemory>, StoreError> {
        let is_same = |memory: &Memory| {
            let mut origins = memory.origin.iter().chain(&memory.other_origins);
            origins.any(|own| own.is_same_place(origin))
        };
        let memories = read_all(self, &Filter::all())?;
        Ok(memories.into_iter().find(|stored| is_same(&stored.memory)))
    }

    /// Returns the memories in `scope` with this [`content_hash`](crate::Memory::content_hash) or [`words_hash`](crate::Memory::words_hash), the oldest first.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError> {
        let mut memories = read_all(self, &Filter::all().within(Some(slice::from_ref(scope))))?;
        memories.retain(|StoredMemory { memory, .. }| {
            memory.content_hash() == *hash || memory.words_hash() == *hash
        });
        Ok(memories
            .into_iter()
            .map(|stored| stored.memory.id)
            .collect())
    }

    /// Returns the memories that link to `id`, or contain wikilinks with one of `keys`.
    ///
    /// See [`crate::wikilink::lookup_keys`] for the keys.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError> {
        let mut memories = read_all(self, &Filter::all())?;
        memories.retain(|StoredMemory { memory, .. }| {
            memory.links.contains(id) || scan::has_wikilink(memory, keys)
        });
        Ok(memories)
    }

    /// Returns up to `limit` current memories that have `tag` or a tag below it, those that were added last first.
    ///
    /// Only memories `within` these scopes are returned, if given.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn tagged(
        &self,
        tag: &str,
        within: Option<&[Scope]>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let filter = Filter {
            tags: [tag].into_iter().collect(),
            ..Filter::default().within(within)
        };
        let newest = PageRequest {
            limit: Some(limit),
            ..PageRequest::default()
        };
        self.list(&filter, &newest, now).map(|page| page.memories)
    }

    /// Returns the numbers of memories that pass `filter`, and that are among the best matches of `question` if it is given.
    ///
    /// The best matches by words are those of [`crate::MatchCoverage::Best`]. They are not checked for phrases. The counts are those
    /// at the last [`MemoryStore::refresh`].
    ///
    /// # Errors
    /// If the files cannot be read.
    fn facets(
        &self,
        question: Option<&TextQuery>,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Result<FacetCounts, StoreError> {
        let mut counter = FacetCounter::default();
        let Some(question) = question else {
            for stored in self.memories(filter, now) {
                counter.add(&stored?.memory);
            }
            return Ok(counter.finish());
        };
        let request = SearchRequest {
            question,
            filter,
            limit: usize::MAX,
            ranking: Ranking {
                coverage: MatchCoverage::Best,
                ..Ranking::default()
            },
            vector: None,
        };
        for hit in self.search(&request, now)?.hits {
            counter.add(&hit.stored.memory);
        }
        Ok(counter.finish())
    }

    /// Returns the first `limit` of the selected reminders, and their total number.
    ///
    /// They are ordered by due time, then by id, and restricted to those `within` these scopes if given. Reminders with
    /// an unreadable due time are omitted; `degraded` reports them, unless the reminders of one memory are selected.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn reminders(
        &self,
        wanted: ReminderQuery,
        within: Option<&[Scope]>,
        limit: Option<usize>,
    ) -> Result<MemoryPage, StoreError> {
        let mut memories = read_all(self, &Filter::all().within(within))?;
        memories.retain(|stored| wanted.includes(&stored.memory));
        let due = |memory: &Memory| memory.reminder.as_ref().map(|reminder| reminder.due);
        memories.sort_by_key(|stored| (due(&stored.memory), stored.memory.id));
        let total = memories.len() as u64;
        memories.truncate(limit.unwrap_or(usize::MAX));
        Ok(MemoryPage {
            memories,
            total,
            degraded: None,
        })
    }

    /// Returns the summaries of all memories, ordered by id.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        let mut memories = read_all(self, &Filter::all())?;
        memories.sort_by_key(|stored| stored.memory.id);
        Ok(memories.iter().map(MemorySummary::new).collect())
    }

    /// Returns the tags and the links of the memories that pass `filter`.
    ///
    /// Links to other memories are left out.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn connections(&self, filter: &Filter, now: DateTime<Utc>) -> Result<Connections, StoreError> {
        let memories = self
            .memories(filter, now)
            .map(|stored| stored.map(|stored| stored.memory));
        Ok(Connections::new(memories.collect::<Result<_, _>>()?))
    }

    /// Returns the scope of each of `ids`, or `None` for a memory that does not exist.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError> {
        let scope = |id| match self.get(id) {
            Ok(stored) => Ok(Some(stored.memory.scope)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        ids.iter().map(scope).collect()
    }

    /// Stores text analyses, replacing previous ones. See `testing::summaries_suite`.
    ///
    /// Analyses of texts that have changed concurrently, and of deleted memories, are skipped. Analyses can be recomputed, so a store may
    /// lose them. An analysis belongs to one text and is ignored once the text of the memory changes.
    ///
    /// # Errors
    /// If they cannot be written.
    fn store_analyses(&self, _analyses: &[CachedAnalysis]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the memories without a vector of the model `identity` for their current text, newest first.
    ///
    /// A text has a vector for each of its passages, and is as similar as the most similar of them. Vectors can be recomputed, so a store may
    /// lose them. A vector belongs to one text: once the text of the memory changes, the memory counts as having no vector; if the text
    /// changes back, the vector may count again. A store with vectors passes `testing::embeddings_suite`.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn memories_without_vector(&self, _identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        Ok(Vec::new())
    }

    /// Returns the number of memories without a vector of the model `identity` for their current text.
    ///
    /// A store of many memories computes it from totals. After a power cut it may be too low, by vectors that were lost. A view of a
    /// large store for an agent does not count, and returns 0, as a store without vectors does.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn count_without_vector(&self, _identity: &str) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Returns whether the store has any vectors of the model `identity`.
    ///
    /// Without `identity`, vectors of all models count. If there are no vectors, embedding a query is pointless. Damaged
    /// vectors count, so that a search can report that it lacks them. The check only tests for their existence.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn has_vectors(&self, _identity: Option<&str>) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Stores vectors of the model `identity` atomically, and returns their number.
    ///
    /// Vectors of texts that have changed concurrently, and of deleted memories, are skipped. Once the call
    /// returns, stored vectors survive a crash.
    ///
    /// # Errors
    /// If a vector does not fit the model, or the vectors cannot be written.
    fn store_vectors(&self, _identity: &str, _vectors: &[TextVector]) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Counts one more access to each of `ids`. Errors are ignored, since counts are not essential.
    ///
    /// A file contains its count from its next change on, or from the next [`MemoryStore::write_access_counts`].
    fn count_access(&self, _ids: &[MemoryId]) {}

    /// Writes access counts into the files that do not contain them yet, and returns the number of these files.
    ///
    /// This is no operation and changes no time of a memory. Left out are files without the field, and files that a person
    /// may be editing.
    ///
    /// # Errors
    /// If the files cannot be read or written.
    fn write_access_counts(&self, _now: DateTime<Utc>) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Returns whether the file of a memory has the version `expected`, or differs from it only by a higher access count.
    ///
    /// # Errors
    /// See [`MemoryStore::get`].
    fn has_version(&self, id: &MemoryId, expected: FileVersion) -> Result<bool, StoreError> {
        Ok(self.get(id)?.stamp == expected)
    }
}

/// Returns all memories that pass `filter`, which does not depend on the time.
fn read_all<S: MemoryStore + ?Sized>(
    store: &S,
    filter: &Filter,
) -> Result<Vec<StoredMemory>, StoreError> {
    store.memories(filter, DateTime::UNIX_EPOCH).collect()
}

/// Maximum number of candidates in the error for an ambiguous reference.
const CANDIDATES: usize = 5;

/// Methods that every [`MemoryStore`] provides.
pub trait MemoryStoreExt: MemoryStore {
    /// Finds the memory by `reference`: an id, a prefix of at least 4 digits of an id, or a file stem.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if nothing matches, [`StoreError::Ambiguous`] if more than one memory does.
    fn find(&self, reference: &str) -> Result<MemoryId, StoreError> {
        if reference.trim().is_empty() {
            return Err(StoreError::Invalid {
                why: "the name of a memory is missing".into(),
            });
        }
        match self.find_matches(reference, None)?.as_slice() {
            [] => Err(StoreError::NotFound {
                reference: reference.to_owned(),
            }),
            [only] => Ok(only.id),
            several => {
                let candidates = several
                    .iter()
                    .take(CANDIDATES)
                    .map(|NameMatch { id, path }| format!("{id} ({path})"))
                    .collect();
                Err(StoreError::Ambiguous {
                    reference: reference.to_owned(),
                    candidates,
                })
            }
        }
    }

    /// Finds and returns the memory that `reference` names.
    ///
    /// # Errors
    /// Those of [`MemoryStoreExt::find`] and [`MemoryStore::get`].
    fn get_by(&self, reference: &str) -> Result<StoredMemory, StoreError> {
        self.get(&self.find(reference)?)
    }
}

impl<S: MemoryStore + ?Sized> MemoryStoreExt for S {}
