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
//! A node with the token of a principal receives and appends only operations in the scopes of the principal. Without the database, a node
//! queues its operations (`file_store/replica/offline.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use memory_core::{DatabaseFigures, Memory, Recorded, RecordedChange, Scope, StoreError};
use serde::{Deserialize, Serialize};

use crate::journal::JournalPayload;
use crate::markdown;

/// A log of operations in a database.
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
}

/// The hint that the log has new operations. Hints may be lost, so nodes also fetch operations without one.
#[derive(Default)]
pub(crate) struct NewsSignal {
    is_listening: AtomicBool,
    has_news: AtomicBool,
    on_news: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for NewsSignal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewsSignal")
            .field("is_listening", &self.is_listening)
            .finish_non_exhaustive()
    }
}

impl NewsSignal {
    /// Sets the function to call after each hint, unless there is one.
    pub(crate) fn set_callback(&self, on_news: Box<dyn Fn() + Send + Sync>) {
        let _ = self.on_news.set(on_news);
    }

    /// Records whether hints arrive.
    pub(crate) fn set_listening(&self, is_listening: bool) {
        self.is_listening.store(is_listening, Ordering::SeqCst);
    }

    /// Returns whether hints arrive.
    pub(crate) fn is_listening(&self) -> bool {
        self.is_listening.load(Ordering::SeqCst)
    }

    /// Records a hint.
    pub(crate) fn notify(&self) {
        self.has_news.store(true, Ordering::SeqCst);
        if let Some(on_news) = self.on_news.get() {
            on_news();
        }
    }

    /// Returns whether there was a hint since the last call.
    pub(crate) fn take(&self) -> bool {
        self.has_news.swap(false, Ordering::SeqCst)
    }
}

/// The identity of a log for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogIdentity {
    /// The id of the log, which differs between databases.
    pub id: String,
    /// The name of the principal whose token the node has; `None` for a node that reads all scopes.
    pub principal: Option<String>,
}

/// The next operations of a log.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogPage {
    /// The operations; an empty list if there are no others.
    pub operations: Vec<LoggedOperation>,
    /// The scopes that the principal of the node may read; `None` for all scopes.
    pub readable: Option<Vec<String>>,
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
    pub files: Vec<NewFile>,
}

/// The files of a change to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewFile {
    /// The access key of the previous file, if there is one.
    pub former_key: Option<String>,
    /// The access key of the new file, if there is one.
    pub key: Option<String>,
    /// The bytes of the new file, if there is one.
    pub content: Option<Vec<u8>>,
}

impl NewOperation {
    /// Returns the changes with their files.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&RecordedChange, &NewFile)> {
        self.record.subject.changes.iter().zip(&self.files)
    }

    /// Returns the contents of the new files.
    pub(crate) fn contents(&self) -> Vec<Option<&[u8]>> {
        let files = self.files.iter();
        files.map(|file| file.content.as_deref()).collect()
    }

    /// Returns the access keys of all previous and new files; the global scope if there is no file.
    pub(crate) fn scopes(&self) -> BTreeSet<String> {
        let scopes: BTreeSet<_> = self.files.iter().flat_map(NewFile::keys).cloned().collect();
        if scopes.is_empty() {
            BTreeSet::from([Scope::Global.to_string()])
        } else {
            scopes
        }
    }
}

impl NewFile {
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
