//! The journal of operations, and undo.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::{
    ChangeOutcome, ContentHash, FileVersion, Memory, MemoryId, Operation, OperationId, Recorded,
    StoreError, StoreResults, Verb,
};

/// An operation on memories in the log.
pub type OperationRecord = Recorded<ChangedFiles>;

/// The files that an operation on memories changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedFiles {
    /// The number of files.
    pub count: u64,
    /// Whether another principal of a shared database changed them.
    pub by_other: bool,
}

/// A recorded change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The memory.
    pub id: MemoryId,
    /// The file before the change: its path below the home, its hash, and its current path in the trash.
    ///
    /// Without this and `after`, an undo left the file as it is.
    pub before: Option<RecordedFile>,
    /// The file after the change: its path below the home and its hash.
    pub after: Option<RecordedFile>,
    /// The reason, if the verb of the operation does not explain it.
    pub why: Option<String>,
}

impl RecordedChange {
    /// Returns whether this program made the change.
    ///
    /// A deletion by another program is only recorded: the file is not in the trash.
    pub fn is_own_change(&self) -> bool {
        self.after.is_some()
            || self
                .before
                .as_ref()
                .is_some_and(|before| before.trash.is_some())
    }

    /// Returns whether this only records that an undo left the file as it was.
    pub fn is_placeholder(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

/// The number of changed files from which an undo leaves out files that were changed since.
///
/// The files of a smaller operation, such as two linked memories, belong together.
pub const LARGE_OPERATION: usize = 10;

/// The result of [`History::revert`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevertedFiles {
    /// The number of reverted files.
    pub files: u64,
    /// The paths of the files that were changed since, and left as they are.
    pub left: Vec<String>,
}

/// The recorded state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// Its path below the home.
    pub path: String,
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// The path in the trash, below the home, for a previous version.
    pub trash: Option<String>,
}

/// A file in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashedFile {
    /// The memory in the file.
    pub id: MemoryId,
    /// The previous path of the file.
    pub path: String,
    /// The current path below the home.
    pub trash: String,
    /// The operation that moved the file to the trash.
    pub operation: Operation,
    /// The size in bytes.
    pub size: u64,
}

/// The journal and the trash of a store.
///
/// The defaults read the other parts of the history. The methods without one return no records, files or changes in a store
/// without a history.
pub trait History: Debug + Send + Sync {
    /// Iterates over the operations, newest first. The parts of a long operation are one record.
    fn records(&self) -> StoreResults<'_, OperationRecord>;

    /// Iterates over the files that the operation `id` changed, last change first.
    fn changes(&self, id: &OperationId) -> StoreResults<'_, RecordedChange>;

    /// Iterates over the files that the operations with this verb changed, last change first.
    ///
    /// Operations that were undone are left out.
    fn changes_of(&self, verb: Verb) -> StoreResults<'_, RecordedChange> {
        let changes = self.all_changes().filter(move |change| {
            let is_open =
                |change: &Recorded<_>| change.operation.verb == verb && change.undone_by.is_none();
            change.as_ref().map_or(true, is_open)
        });
        Box::new(changes.map(|change| change.map(|change| change.subject)))
    }

    /// Iterates over the files in the trash, newest first.
    fn trashed(&self) -> StoreResults<'_, TrashedFile>;

    /// Iterates over the changes of the memory `id`, last change first, each with its operation.
    fn changes_to(&self, id: &MemoryId) -> StoreResults<'_, Recorded<RecordedChange>> {
        let id = *id;
        let is_of = move |change: &Result<Recorded<RecordedChange>, StoreError>| {
            change
                .as_ref()
                .map_or(true, |change| change.subject.id == id)
        };
        Box::new(self.all_changes().filter(is_of))
    }

    /// Iterates over the changes of all memories, last change first, each with its operation.
    fn all_changes(&self) -> StoreResults<'_, Recorded<RecordedChange>> {
        Box::new(self.records().flat_map(|record| {
            let record = match record {
                Ok(record) => record,
                Err(error) => return vec![Err(error)],
            };
            self.changes(&record.operation.id)
                .map(|change| change.map(|change| record.clone().map(|_| change)))
                .collect()
        }))
    }

    /// Returns the memory in a file in the trash, given its path below the home.
    ///
    /// # Errors
    /// [`StoreError::TrashNotFound`] if the file does not exist, [`StoreError::Damaged`] if it cannot be read as text.
    fn memory_in_trash(&self, trash: &str) -> Result<Memory, StoreError>;

    /// Returns whether a file in the trash has the version `expected`, or differs from it only by a higher access count.
    ///
    /// # Errors
    /// [`StoreError::TrashNotFound`] if the file does not exist, or if it cannot be read.
    fn trash_has_version(&self, trash: &str, expected: FileVersion) -> Result<bool, StoreError> {
        for change in self.all_changes() {
            if let Some(before) = change?.subject.before
                && before.trash.as_deref() == Some(trash)
            {
                return Ok(before.hash == expected.0);
            }
        }
        Err(StoreError::TrashNotFound {
            reference: trash.to_owned(),
            earlier: None,
        })
    }

    /// Rolls back interrupted operations, so that the records match the files.
    ///
    /// # Errors
    /// If a file cannot be restored.
    fn recover(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Reverts every file that the operation `id` changed.
    ///
    /// The revert is recorded as the operation `undo`. If the operation changed at least [`LARGE_OPERATION`] files, those
    /// that were changed since are left as they are.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if a file of a smaller operation, or each file, was changed since;
    /// [`StoreError::OperationNotFound`] if another process has already undone the operation. Then nothing has changed.
    fn revert(&self, id: &OperationId, undo: &Operation) -> Result<RevertedFiles, StoreError>;

    /// Restores a file from the trash to its previous path.
    ///
    /// The restore is recorded as the operation `restore`. A later version of the same memory
    /// moves to the trash.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if the file of another memory occupies the path.
    fn restore(
        &self,
        trashed: &TrashedFile,
        restore: &Operation,
    ) -> Result<ChangeOutcome, StoreError>;

    /// Permanently deletes the files that were moved to the trash before `before`.
    ///
    /// Returns the number of deleted files and their total size in bytes.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError>;
}
