//! The log of operations that several nodes share.
//!
//! The log is the truth: an operation has happened if and only if the log contains it. Each node has a replica, a home that is derived
//! from the log, so that search, history and undo are the same code with the same results as without a log.
//!
//! A write plans its files and appends the operation, unless another node has appended one to the same scopes since; then the node applies
//! that one and plans again. So every check of the plan is a check of the current state of the log. Only then the files of the replica
//! change. A random token recognizes an operation whose confirmation was lost.
//!
//! A read first applies the operations of other nodes in the order of their positions. `replica.json` in the replica contains the last
//! position of each scope, and the end of the journal that belongs to it. After an interruption, the operations in the journal behind that
//! end are not applied again. A new node, or one with a deleted journal, an edited file or purged versions, creates its replica from the
//! whole log, with one sync at the end.
//!
//! Banks, topics and conversations are files of shared folders. The files in the database are the truth; each node has a replica of them
//! (`store_folder/replica.rs`). A change is computed in memory from the replica, and committed to the database in one transaction, unless
//! another node has changed the folder since. Only then the files of the replica change. The logs and the trash of a store are among its
//! files, so history and undo work on every node.
//!
//! A node with the token of a principal receives and appends only operations in the scopes of the principal. Without the database, a node
//! queues its operations (`file_store/replica/offline.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_core::{DatabaseFigures, Memory, Recorded, RecordedChange, Scope, StoreError};
use serde::{Deserialize, Serialize};

use crate::disk::FileEdit;
use crate::error::io_error;
use crate::journal::JournalPayload;
use crate::log_connection::NewsSignal;
use crate::markdown;

/// A log of operations in a database, and files of folders.
///
/// An operation has one position in all its scopes. It is higher than that of each operation that the node had when it planned this one,
/// and of each earlier operation of these scopes. Operations without a common scope may have the same position.
pub(crate) trait SharedLog: Debug + Send + Sync {
    /// Returns the id of the log, and the principal of the node.
    ///
    /// # Errors
    /// If the database cannot be reached, or rejects the token of the node.
    fn identity(&self) -> Result<LogIdentity, StoreError>;

    /// Returns the next operations after `known` in the scopes that the node may read, in the order of their positions.
    ///
    /// # Errors
    /// If the database cannot be reached, rejects the token of the node, or does not contain `known`.
    fn pull(&self, known: &LogHeads) -> Result<LogPage, StoreError>;

    /// Appends an operation that was planned with the operations up to `known`, and advances `known` to it.
    ///
    /// The operation is durable once it was appended, and is not in the log after any other result.
    ///
    /// # Errors
    /// If the database cannot be reached. Then the log may contain the operation.
    fn append(
        &self,
        known: &mut LogHeads,
        operation: &NewOperation,
    ) -> Result<LogAppendResult, StoreError>;

    /// Deletes the previous versions that were moved to the trash before `before`.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn purge(&self, before: DateTime<Utc>) -> Result<(), StoreError>;

    /// Returns figures of the connections and of the errors so far.
    fn figures(&self) -> DatabaseFigures;

    /// Reports the operations of other nodes to `news` from now on, as far as the database supports this. It does not block.
    fn listen(&self, news: Arc<NewsSignal>);

    /// Returns the files that changed after the position `known`, in the order of their last changes; at most one page of them, after the
    /// file `last` of the previous page.
    ///
    /// # Errors
    /// If the database cannot be reached.
    fn changed_files(
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
    fn commit_files(
        &self,
        folder: &SharedFolderId,
        known: i64,
        token: i64,
        edits: &[FileEdit],
    ) -> Result<FileCommitResult, StoreError>;
}

/// Returns the scopes in a list of the database.
pub(crate) fn parse_scopes(scopes: &[String]) -> Vec<Scope> {
    scopes
        .iter()
        .filter_map(|scope| scope.parse().ok())
        .collect()
}

/// The identity of a log for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogIdentity {
    /// The id of the log, which differs between databases.
    pub id: String,
    /// The name of the principal whose token the node has; `None` for a node that reads all scopes.
    pub principal: Option<String>,
}

impl LogIdentity {
    /// Returns the text by which the replica of a folder recognizes its database.
    pub(crate) fn to_text(&self) -> String {
        match &self.principal {
            Some(principal) => format!("{}/{principal}", self.id),
            None => self.id.clone(),
        }
    }
}

/// The next operations of a log.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogPage {
    /// The operations; an empty list if there are no others.
    pub operations: Vec<LoggedOperation>,
    /// The scopes that the principal of the node may read; `None` for all scopes.
    pub readable: Option<Vec<String>>,
    /// Those of them that it may not write.
    pub read_only: Vec<String>,
}

impl LogPage {
    /// Returns whether the node may no longer read one of the scopes in `known`.
    pub(crate) fn has_lost_scope(&self, known: &LogHeads) -> bool {
        self.readable.as_ref().is_some_and(|readable| {
            known
                .iter()
                .any(|(scope, _)| !readable.iter().any(|own| own == scope))
        })
    }
}

/// The position and the token of the last operation of each scope that a replica has.
///
/// The token detects a log that was restored from a backup, or lost its last operations in a failover, and has other operations at
/// the same positions since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct LogHeads(BTreeMap<String, LogHead>);

/// The last operation of a scope. Both numbers are 0 if there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogHead {
    pub position: i64,
    pub token: i64,
}

impl LogHeads {
    /// Returns the last operation of `scope` in the replica.
    pub(crate) fn get(&self, scope: &str) -> LogHead {
        self.0.get(scope).copied().unwrap_or_default()
    }

    /// Records that the replica has the operations of `scopes` up to `head`.
    pub(crate) fn advance(&mut self, scopes: impl IntoIterator<Item = String>, head: LogHead) {
        self.0.extend(scopes.into_iter().map(|scope| (scope, head)));
    }

    /// Iterates over the scopes and their last operations.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, LogHead)> {
        self.0.iter().map(|(scope, head)| (scope.as_str(), *head))
    }
}

/// The result of [`SharedLog::append`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogAppendResult {
    /// The operation is in the log.
    Appended,
    /// The log contains further operations on the same scopes.
    Behind,
    /// The document at this path is not in the expected state, or another document has its path.
    Refused(String),
}

/// An operation to append, or one that waits for this in the queue.
#[derive(Debug, Clone)]
pub(crate) struct NewOperation {
    pub record: Recorded<JournalPayload>,
    /// A random number that identifies this part of the operation.
    pub token: i64,
    /// The files of each change of the record.
    pub files: Vec<OperationFile>,
}

/// The files of a change to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperationFile {
    /// The access key of the previous file, if there is one.
    pub former_key: Option<String>,
    /// The access key of the new file, if there is one.
    pub key: Option<String>,
    /// The bytes of the new file, if there is one.
    pub content: Option<Vec<u8>>,
}

impl NewOperation {
    /// Returns the changes with their files.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&RecordedChange, &OperationFile)> {
        self.record.subject.changes.iter().zip(&self.files)
    }

    /// Returns the contents of the new files.
    pub(crate) fn contents(&self) -> Vec<Option<&[u8]>> {
        let files = self.files.iter();
        files.map(|file| file.content.as_deref()).collect()
    }

    /// Returns the access keys of all previous and new files; the global scope if there is no file.
    pub(crate) fn scopes(&self) -> BTreeSet<String> {
        let scopes: BTreeSet<_> = self
            .files
            .iter()
            .flat_map(OperationFile::keys)
            .cloned()
            .collect();
        if scopes.is_empty() {
            BTreeSet::from([Scope::Global.to_string()])
        } else {
            scopes
        }
    }
}

impl OperationFile {
    /// Returns the access keys of the previous and the new file.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.former_key.iter().chain(&self.key)
    }
}

/// Returns the memory in a file of an operation.
pub(crate) fn decode_memory(path: &str, bytes: &[u8]) -> Memory {
    // The time replaces dates that the file does not contain.
    markdown::decode(path, bytes, DateTime::UNIX_EPOCH).memory
}

/// An operation in the log.
#[derive(Debug, Clone)]
pub(crate) struct LoggedOperation {
    pub record: Recorded<JournalPayload>,
    /// The number that identifies this part of the operation.
    pub token: i64,
    pub position: i64,
    /// The scopes in which the operation has this position, and the node did not have it.
    pub scopes: Vec<String>,
    /// The content of the new file of each change, if there is one and it was not purged.
    pub contents: Vec<Option<Vec<u8>>>,
}

impl LoggedOperation {
    /// Returns its position and token.
    pub(crate) fn head(&self) -> LogHead {
        LogHead {
            position: self.position,
            token: self.token,
        }
    }

    /// Returns whether the content of a new file was purged.
    pub(crate) fn is_purged(&self) -> bool {
        let changes = self.record.subject.changes.iter();
        changes
            .zip(&self.contents)
            .any(|(change, content)| change.after.is_some() && content.is_none())
    }
}

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

/// The result of [`SharedLog::commit_files`].
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
