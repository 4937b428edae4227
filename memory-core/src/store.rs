//! Where memories are kept.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::wikilink::Candidate;
use crate::{
    Asked, ContentHash, Embeddings, Filter, Found, Memory, MemoryId, Operation, Origin, Outcome, Outlines, Page, Problem,
    Reminders, Scope, Slice, Stamp, StoreError,
};

/// A memory as it is kept: what its file says at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// What the file says.
    pub memory: Memory,
    /// Where it is, below the home, with `/` between the parts.
    pub path: String,
    /// Tells this state of the file from every other.
    pub stamp: Stamp,
    /// What is wrong with the file, if anything. Such a memory can be read and found but not changed.
    pub problem: Option<Problem>,
}

/// A memory that is called by a name somebody gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The memory.
    pub id: MemoryId,
    /// Where it is, below the home.
    pub path: String,
}

/// A place that keeps memories. Every implementation passes `testing::store_suite`.
///
/// All methods may be called from any thread and from many processes at once. What is returned is always what the files
/// say at that moment; which files there are is known as of the last [`MemoryStore::refresh`] or later.
pub trait MemoryStore: Names + Embeddings + Outlines {
    /// Looks for files that other programs made, moved, changed or deleted. Every use case that asks for more than single
    /// memories begins with it; [`MemoryStore::called`] and [`MemoryStore::get`] look for themselves.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn refresh(&self) -> Result<(), StoreError>;

    /// Returns the memory as it stands now, with the accesses that its file does not tell yet.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is none; [`StoreError::Damaged`] if its file cannot be read as text at all.
    fn get(&self, id: &MemoryId) -> Result<Stored, StoreError>;

    /// Returns the memories that a person may mean by `reference`, which is not empty: an id, a prefix of one (4 digits or
    /// more), or a file stem. Of those that lie `within` scopes, if any are given. Of many, some are enough.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn called(&self, reference: &str, within: Option<&[Scope]>) -> Result<Vec<Called>, StoreError>;

    /// Does what `operation` says, all of it or nothing.
    ///
    /// Once this returns, neither a crash nor a power cut loses any of it. Changes of one operation are written with one
    /// sync, so many at once cost little more than one. Former files go to trash whole, and the journal knows the way
    /// back.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if a file is no longer the one that was expected: then nothing was done.
    fn commit(&self, operation: &Operation) -> Result<Vec<Outcome>, StoreError>;

    /// Returns one slice of the memories that pass `filter`, and how many there are in all.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn list(&self, filter: &Filter, slice: &Slice, now: DateTime<Utc>) -> Result<Page, StoreError>;

    /// Returns the memories that answer what is asked, best first. Filters apply before the cut.
    ///
    /// # Errors
    /// When the question cannot be answered; an empty answer always means that nothing matches.
    fn search(&self, asked: &Asked<'_>, now: DateTime<Utc>) -> Result<Found, StoreError>;

    /// Returns which of `names`, in lower case, are those of somebody who speaks: a word of the source of a part of a
    /// conversation, or of the agent whose a memory is; of those that lie `within` scopes, if any are given. Where it cannot be
    /// told, nobody does.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn speakers(&self, names: &[String], within: Option<&[Scope]>) -> Result<Vec<String>, StoreError>;

    /// Iterates over all memories that pass `filter`, oldest first.
    fn memories<'a>(&'a self, filter: &Filter, now: DateTime<Utc>) -> Box<dyn Iterator<Item = Result<Stored, StoreError>> + 'a>;

    /// Returns the memory that was taken in from `origin`, if there is one.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn by_origin(&self, origin: &Origin) -> Result<Option<Stored>, StoreError>;

    /// Returns the memory in `scope` whose content has this hash, if there is one.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn by_content(&self, hash: &ContentHash, scope: &Scope) -> Result<Option<MemoryId>, StoreError>;

    /// Returns the memories whose `links` name `id`, or whose wikilinks use one of `keys` (see [`crate::wikilink::keys`]).
    ///
    /// # Errors
    /// When the files cannot be read.
    fn referring(&self, id: &MemoryId, keys: &[String]) -> Result<Vec<Stored>, StoreError>;

    /// Returns the first `limit` of the reminders that are meant, and how many there are in all: what is due first comes
    /// first, ties by id. Of those that lie `within` scopes, if any are given. What is left out because it cannot be told when it is
    /// due is told of in `degraded`, but where those of one memory are meant.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn reminders(&self, wanted: Reminders, within: Option<&[Scope]>, limit: Option<usize>) -> Result<Page, StoreError>;

    /// Counts one more access to each of `ids`; their files tell of it from their next change on. A count is worth less
    /// than an answer: failure is silent.
    fn count_access(&self, ids: &[MemoryId]);
}

/// What memories are called, for following wikilinks.
pub trait Names: Debug + Send + Sync {
    /// Returns whatever is called `key`, see [`crate::wikilink::keys`]. The id of a memory that is gone is a name of the one that
    /// took its place ([`crate::Memory::supersedes`]).
    ///
    /// # Errors
    /// When the files cannot be read.
    fn named(&self, key: &str) -> Result<Vec<Candidate>, StoreError>;
}

/// How many candidates an ambiguous reference names.
const CANDIDATES: usize = 5;

/// Conveniences over any [`MemoryStore`].
pub trait MemoryStoreExt: MemoryStore {
    /// Finds the memory that a person means by `reference`: an id, a prefix of one (4 digits or more), or a file stem.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if nothing matches, [`StoreError::Ambiguous`] if more than one memory does.
    fn find(&self, reference: &str) -> Result<MemoryId, StoreError> {
        if reference.trim().is_empty() {
            return Err(StoreError::Invalid { why: "the name of a memory is missing".into() });
        }
        match self.called(reference, None)?.as_slice() {
            [] => Err(StoreError::NotFound { reference: reference.to_owned() }),
            [only] => Ok(only.id),
            several => {
                let candidates = several.iter().take(CANDIDATES).map(|Called { id, path }| format!("{id} ({path})")).collect();
                Err(StoreError::Ambiguous { reference: reference.to_owned(), candidates })
            }
        }
    }

    /// Finds and returns the memory that a person means by `reference`.
    ///
    /// # Errors
    /// As [`MemoryStoreExt::find`] and [`MemoryStore::get`].
    fn get_by(&self, reference: &str) -> Result<Stored, StoreError> {
        self.get(&self.find(reference)?)
    }
}

impl<S: MemoryStore + ?Sized> MemoryStoreExt for S {}
