//! Folders of files that several nodes share: banks, topics and conversations.
//!
//! The files in the database are the truth; each node has a replica of them. A change is computed in memory from the replica, and
//! committed to the database in one transaction, unless another node has changed the folder since. Only then the files of the replica
//! change. The logs and the trash of a store are among its files, so history and undo work on every node.

use std::fmt::Debug;
use std::io;

use memory_core::StoreError;

use crate::disk::FileEdit;
use crate::error::io_error;

/// The folder of a shared home with the topics of all projects, one folder for each project.
pub const TOPIC_FOLDERS: &str = "topics";

/// The identity of a folder in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFolderId {
    /// The scope whose members share the folder, such as `global`.
    pub scope: String,
    /// The name of the folder in its scope, such as `banks`.
    pub name: String,
}

impl SharedFolderId {
    /// Returns the folder with the conversations of homes.
    pub fn conversations() -> Self {
        Self::global("conversations")
    }

    /// Returns the folder `name` of the global scope.
    pub fn global(name: &str) -> Self {
        Self {
            scope: "global".into(),
            name: name.into(),
        }
    }
}

/// The files of folders in a database.
pub(crate) trait SharedFiles: Debug + Send + Sync {
    /// Returns the id of the database.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn identity(&self) -> Result<String, StoreError>;

    /// Returns the files that changed after the position `known`, in the order of their last changes; at most one page of them, after the
    /// file `last` of the previous page.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn changes_after(
        &self,
        folder: &SharedFolderId,
        known: i64,
        last: Option<&SharedFile>,
    ) -> Result<SharedFilePage, StoreError>;

    /// Commits changes that were computed from the files at the position `known`.
    ///
    /// The changes are durable once the call returns their position, and did not happen after any other result. `token` is a random number
    /// that identifies the changes.
    ///
    /// # Errors
    /// If the database cannot be reached. Then the changes may have been made.
    fn commit(
        &self,
        folder: &SharedFolderId,
        known: i64,
        token: i64,
        edits: &[FileEdit],
    ) -> Result<FileCommitResult, StoreError>;
}

/// The result of [`SharedFiles::commit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileCommitResult {
    /// The changes have this position.
    Committed(i64),
    /// The changes were committed before, and the connection was lost.
    Repeated,
    /// The folder has another position.
    Behind,
    /// A file to append to has another size in the database.
    Diverged,
}

/// Some changed files of a folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedFilePage {
    /// The position of the folder; 0 if it was never changed.
    pub position: i64,
    /// The changed files; empty after the last page.
    pub files: Vec<SharedFile>,
}

/// A file that changed after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedFile {
    /// The position of its last change.
    pub position: i64,
    /// All changes of the file after the position.
    pub edit: FileEdit,
}

/// Returns a random number that identifies a change.
pub(crate) fn random_token() -> Result<i64, StoreError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| io_error("create a random number", io::Error::from(error)))?;
    Ok(i64::from_ne_bytes(bytes))
}
