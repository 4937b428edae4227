//! What was done, and the way back.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::{ContentHash, MemoryId, Operation, OperationId, Outcome, Scope, StoreError, Verb};

/// An operation that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub id: OperationId,
    /// When.
    pub at: DateTime<Utc>,
    /// What was asked for.
    pub verb: Verb,
    /// Who asked.
    pub by: String,
    /// The operation that this one took back, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that took this one back, if any did.
    pub undone_by: Option<OperationId>,
    /// How many files it changed.
    pub files: u64,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The memory.
    pub id: MemoryId,
    /// The file before: its path below the home, its hash, and where in the trash it is now.
    pub before: Option<RecordedFile>,
    /// The file after: its path below the home and its hash.
    pub after: Option<RecordedFile>,
    /// Why, if the verb of the operation does not say it.
    pub why: Option<String>,
}

impl RecordedChange {
    /// Tells whether we did it. What another program had deleted was only written down: it never came to trash.
    pub fn was_ours(&self) -> bool {
        self.after.is_some() || self.before.as_ref().is_some_and(|before| before.trash.is_some())
    }
}

/// One state of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// Its path below the home.
    pub path: String,
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// Its path in the trash, below the home, for a former file.
    pub trash: Option<String>,
}

/// A file in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// The memory it held.
    pub id: MemoryId,
    /// Where it was.
    pub path: String,
    /// Where it is now, below the home.
    pub trash: String,
    /// The operation that put it there.
    pub operation: OperationId,
    /// What that operation was.
    pub verb: Verb,
    /// When.
    pub at: DateTime<Utc>,
    /// Its size in bytes.
    pub size: u64,
}

/// The journal and the trash of a store.
pub trait History: Debug + Send + Sync {
    /// Iterates over what happened, newest first. The parts of a long operation are one record.
    fn records(&self) -> Box<dyn Iterator<Item = Result<Record, StoreError>> + '_>;

    /// Iterates over the files that the operation `id` changed, last first.
    fn changes<'a>(&'a self, id: &OperationId) -> Box<dyn Iterator<Item = Result<RecordedChange, StoreError>> + 'a>;

    /// Iterates over the files in the trash, newest first.
    fn trashed(&self) -> Box<dyn Iterator<Item = Result<Trashed, StoreError>> + '_>;

    /// Returns the scope of what a file in the trash says, by its path below the home.
    ///
    /// # Errors
    /// [`StoreError::TrashNotFound`] if it is not there.
    fn scope_in_trash(&self, trash: &str) -> Result<Scope, StoreError>;

    /// Takes back what was interrupted in the middle, so that the records tell what holds.
    ///
    /// # Errors
    /// When a file cannot be put back.
    fn recover(&self) -> Result<(), StoreError>;

    /// Puts every file that the operation `id` changed back as it was before, as the operation `undo`, whose changes are
    /// empty; returns how many files there were.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if one of the files was changed since, [`StoreError::OperationNotFound`] if somebody else has
    /// taken it back already; then nothing was done.
    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<u64, StoreError>;

    /// Puts a file from the trash back where it was, as the operation `restore`, whose changes are empty. A later version
    /// of the same memory goes to trash in its stead.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if another memory's file stands there now.
    fn bring_back(&self, trashed: &Trashed, restore: &Operation) -> Result<Outcome, StoreError>;

    /// Removes for good what went to trash before `before`; returns the files and bytes removed.
    ///
    /// # Errors
    /// When a file cannot be removed.
    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError>;
}
