//! The storage interface of memories.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::secret::Checked;
use crate::wikilink::WikilinkCandidate;
use crate::{
    ChangeOutcome, ChangeSet, ContentHash, Embeddings, FileVersion, Filter, MemoryFacets, MemoryId,
    MemoryPage, MemorySummaries, Origin, PageRequest, ReminderQuery, Scope, SearchRequest,
    SearchResults, StoreError, StoredMemory,
};

/// A memory that matches a reference by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameMatch {
    /// The memory.
    pub id: MemoryId,
    /// The path below the home.
    pub path: String,
}

/// A store of memories. Every implementation passes `testing::store_suite`.
///
/// All methods may be called from any thread and from multiple processes concurrently. The returned content is always
/// that of the current files. The set of files is at least as recent as the last [`MemoryStore::refresh`].
pub trait MemoryStore: NameIndex + Embeddings + MemoryFacets + MemorySummaries {
    /// Detects files that other programs created, moved, changed or deleted.
    ///
    /// Every use case that reads more than single memories calls it first. [`MemoryStore::find_matches`] and
    /// [`MemoryStore::get`] detect changes themselves.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn refresh(&self) -> Result<(), StoreError>;

    /// Returns the current memory, including the accesses that its file does not contain yet.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if it does not exist; [`StoreError::Damaged`] if its file cannot be read as text.
    fn get(&self, id: &MemoryId) -> Result<StoredMemory, StoreError>;

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
    ) -> Result<Vec<NameMatch>, StoreError>;

    /// Commits `set` atomically.
    ///
    /// Once the call returns, the changes survive a crash and a power loss. All changes of an operation share one sync,
    /// so a large operation costs little more than a small one. Previous files move to the trash unchanged, and the
    /// journal records the information for undo.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if a file does not have the expected version. Then nothing has changed.
    fn commit(&self, set: Checked<&ChangeSet>) -> Result<Vec<ChangeOutcome>, StoreError>;

    /// Returns one slice of the memories that pass `filter`, and their total number.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn list(
        &self,
        filter: &Filter,
        slice: &PageRequest,
        now: DateTime<Utc>,
    ) -> Result<MemoryPage, StoreError>;

    /// Returns the memories that match the request, best first. Filters apply before the limit.
    ///
    /// # Errors
    /// If the search fails. An empty result always means that nothing matches.
    fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<SearchResults, StoreError>;

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
    ) -> Result<Vec<String>, StoreError>;

    /// Iterates over all memories that pass `filter`, oldest first.
    fn memories<'a>(
        &'a self,
        filter: &Filter,
        now: DateTime<Utc>,
    ) -> Box<dyn Iterator<Item = Result<StoredMemory, StoreError>> + 'a>;

    /// Returns the memory that was ingested from `origin` into `scope`, if any.
    ///
    /// It may have been moved into another scope since. A store that several principals share does not return the memories of others in
    /// other scopes, because they would receive the text of the next ingestion.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn by_origin(&self, origin: &Origin, scope: &Scope)
    -> Result<Option<StoredMemory>, StoreError>;

    /// Returns the memories in `scope` with this [`content_hash`](crate::Memory::content_hash) or [`words_hash`](crate::Memory::words_hash), the oldest first.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns the memories that link to `id`, or contain wikilinks with one of `keys`.
    ///
    /// See [`crate::wikilink::lookup_keys`] for the keys.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<StoredMemory>, StoreError>;

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
    ) -> Result<MemoryPage, StoreError>;

    /// Counts one more access to each of `ids`. Errors are ignored, since counts are not essential.
    ///
    /// A file contains its count from its next change on, or from the next [`MemoryStore::write_access_counts`].
    fn count_access(&self, ids: &[MemoryId]);

    /// Writes access counts into the files that do not contain them yet, and returns the number of these files.
    ///
    /// This is no operation and changes no time of a memory. Left out are files without the field, and files that a person
    /// may be editing.
    ///
    /// # Errors
    /// If the files cannot be read or written.
    fn write_access_counts(&self, now: DateTime<Utc>) -> Result<u64, StoreError>;

    /// Returns whether the file of a memory has the version `expected`, or differs from it only by a higher access count.
    ///
    /// # Errors
    /// See [`MemoryStore::get`].
    fn has_version(&self, id: &MemoryId, expected: FileVersion) -> Result<bool, StoreError>;
}

/// The names of memories, for resolving wikilinks.
pub trait NameIndex: Debug + Send + Sync {
    /// Returns the memories and attachments with the name `key`, see [`crate::wikilink::lookup_keys`].
    ///
    /// The id of a superseded memory is a name of its replacement ([`crate::Memory::supersedes`]).
    ///
    /// # Errors
    /// If the files cannot be read.
    fn find_by_name(&self, key: &str) -> Result<Vec<WikilinkCandidate>, StoreError>;
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
