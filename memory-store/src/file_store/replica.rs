//! The replica of a shared log: a store whose truth is in a database.
//!
//! A write plans its file changes as without a database, appends them to the log, and then makes them in the files. A read first
//! applies the operations of other nodes. After an interruption between log and files, the next read or write repeats the operation.
//!
//! Without the database, a write makes its changes in the files, and waits in a queue. The next call that reaches the database sends it.

mod creation;
mod feed;
mod migration;
mod offline;
mod state;
mod status;
#[cfg(test)]
mod tests;
mod unsynced;

pub use status::{QueueNotices, SharedStoreStatus};

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memory_core::{
    Code, ContentHash, Memory, MemoryId, PrincipalAccess, Recorded, RecordedChange, Scope,
    StoreError, StoredMemory,
};

use self::state::CurrentReplica;
use self::status::ReplicaEvents;
use self::unsynced::SystemStart;
use super::plan::generated_name;
use super::{FileStore, Freshness};
use crate::access_key::{access_key, key_of_file, name_with_key};
use crate::journal::{CommitStep, JournalPayload};
use crate::log_connection::{LogConnection, check_patience, is_temporary, is_unreachable};
use crate::markdown;
use crate::memory_file::{is_conversation_file, load};
use crate::shared_log::{
    LogAppendResult, NewOperation, OperationFile, decode_memory, parse_scopes, random_token,
};
use crate::store_folder::StoreFolder;

/// The connection of a store with its shared log.
#[derive(Debug)]
pub(super) struct Replica {
    connection: LogConnection,
    /// The conversations of the home, if they are shared.
    pub(super) conversations: Option<StoreFolder>,
    events: Mutex<ReplicaEvents>,
    start: SystemStart,
}

/// The reason why an operation was not performed.
#[derive(Debug)]
pub(super) enum ApplyError {
    Store(StoreError),
    /// Operations of other nodes were applied meanwhile, so that the operation must be planned again.
    Outdated,
    /// The log has another document at this path, and the replica does not.
    Diverged(String),
}

impl From<StoreError> for ApplyError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Replica {
    /// Applies the changes of conversations of other nodes. If the database cannot be reached any more, the next read repeats it.
    fn catch_up_conversations(&self, patience: Duration) -> Result<(), StoreError> {
        let done = self
            .conversations
            .as_ref()
            .map_or(Ok(()), |conversations| conversations.catch_up_now(patience));
        match done {
            Err(error) if is_temporary(&error) => Ok(()),
            done => done,
        }
    }
}

impl FileStore {
    /// Makes the store a replica of a log.
    #[cfg(any(test, feature = "postgres"))]
    pub(crate) fn with_log(self, connection: LogConnection) -> Self {
        let replica = Replica {
            connection,
            conversations: None,
            events: Mutex::default(),
            start: SystemStart::current(),
        };
        Self {
            replica: Some(replica),
            ..self
        }
    }

    /// Shares the conversations of the home in `folder`, too.
    #[cfg(feature = "postgres")]
    pub(crate) fn with_conversations(mut self, folder: StoreFolder) -> Self {
        if let Some(replica) = &mut self.replica {
            replica.conversations = Some(folder);
        }
        self
    }

    /// Listens for operations of other nodes, if the store is a replica, and calls `on_news` after each hint that there are any.
    ///
    /// The next read then fetches them at once. While hints arrive, other reads fetch operations only every 2 s. Returns whether the store
    /// is a replica.
    pub fn listen_for_news(&self, on_news: impl Fn() + Send + Sync + 'static) -> bool {
        let Some(replica) = &self.replica else {
            return false;
        };
        replica.connection.listen(Box::new(on_news));
        true
    }

    /// Returns whether hints of the shared database arrive; they do not behind a pooler in transaction mode, or without the database.
    pub fn hears_news(&self) -> bool {
        let replica = self.replica.as_ref();
        replica.is_some_and(|replica| replica.connection.is_listening())
    }

    /// Applies the operations of other nodes, if the store is a replica and this is due.
    ///
    /// # Errors
    /// With [`Freshness::Fresh`], also if the database cannot be reached.
    pub(super) fn catch_up(&self) -> Result<(), StoreError> {
        let is_fresh = self.options.freshness == Freshness::Fresh;
        let Some(replica) = self
            .replica
            .as_ref()
            .filter(|replica| is_fresh || replica.connection.is_due())
        else {
            return Ok(());
        };
        let trouble = match self.pull_news(replica) {
            Ok(()) => None,
            // A replica that was never complete has no results. A queued operation that the database refuses is no obstacle for reads, but a
            // revoked token is.
            Err(error)
                if !is_fresh
                    && self.has_state()
                    && (is_temporary(&error)
                        || error.code() != Code::Unauthorized && !self.queue().is_empty()?) =>
            {
                Some((error.code(), error.to_string()))
            }
            Err(error) => return Err(error),
        };
        if trouble.is_none() {
            self.record_contact();
            replica.catch_up_conversations(self.options.patience)?;
        }
        replica.connection.record_pull(trouble);
        Ok(())
    }

    /// Checks that the folder is or can become a replica of the log, without a change of it.
    ///
    /// # Errors
    /// If the database cannot be reached, or the folder belongs to another database, or contains memories that are in no database.
    pub fn check_joinable(&self) -> Result<(), StoreError> {
        let replica = self.replica.as_ref();
        replica.map_or(Ok(()), |replica| self.current(replica).map(drop))
    }

    /// Returns the hashes of all versions of each memory in the journal of this replica.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn journaled_versions(
        &self,
    ) -> Result<HashMap<MemoryId, HashSet<ContentHash>>, StoreError> {
        let mut versions = HashMap::<_, HashSet<_>>::new();
        for record in self.journaled_operations(None) {
            for change in record?.subject.changes {
                let known = versions.entry(change.id).or_default();
                known.extend(change.after.map(|file| file.hash));
            }
        }
        Ok(versions)
    }

    /// Lets the next read create the replica again from the log. Files whose content the log lacks are then moved to `unsynced/`.
    ///
    /// A replica with operations that a restored database lacks is used again in this way.
    ///
    /// # Errors
    /// If the state of the replica cannot be read or written.
    pub fn replace_replica(&self) -> Result<(), StoreError> {
        let _lock = self.lock_for_writing()?;
        let Some(mut state) = self.read_state()? else {
            return Ok(());
        };
        state.journal = None;
        self.write_state(&state)
    }

    /// Returns the principal of the node and its scopes, if the store is a replica with a token.
    ///
    /// # Errors
    /// If the database has to be asked, and cannot be reached or rejects the token.
    pub fn principal(&self) -> Result<Option<PrincipalAccess>, StoreError> {
        let Some(replica) = &self.replica else {
            return Ok(None);
        };
        if !self.has_state() {
            self.catch_up()?;
        }
        let Some(state) = self.read_state()? else {
            return Ok(None);
        };
        // A replica of another principal is not used.
        let name = match replica.connection.known_identity() {
            Some(identity) => identity.principal.clone(),
            None => state.principal,
        };
        Ok(name.map(|name| PrincipalAccess {
            name,
            scopes: parse_scopes(&state.readable.unwrap_or_default()),
            read_only: parse_scopes(&state.read_only),
        }))
    }

    /// Returns the scope that determines who reads a memory in a shared database: that of its principal for the scope of an agent.
    pub fn access_scope(&self, stored: &StoredMemory) -> Scope {
        key_of_file(&stored.path, &stored.memory.scope, None)
    }

    /// Returns the name of the principal of the node, if the store is a replica with a token. Without the database, it is that of the
    /// existing replica.
    pub(super) fn principal_name(&self) -> Result<Option<String>, StoreError> {
        let Some(replica) = &self.replica else {
            return Ok(None);
        };
        match (replica.connection.identity(), self.read_state()?) {
            (Ok(identity), _) => Ok(identity.principal.clone()),
            (Err(error), Some(state)) if is_unreachable(&error) => Ok(state.principal),
            (Err(error), _) => Err(error),
        }
    }

    /// Returns whether a memory is private to the principal of the node, or was before it was shared.
    pub(super) fn was_private(
        &self,
        stored: &StoredMemory,
        principal: &str,
    ) -> Result<bool, StoreError> {
        let private = Scope::Private(principal.to_owned());
        let is_private = |path: &str| key_of_file(path, &Scope::Global, None) == private;
        if is_private(&stored.path) {
            return Ok(true);
        }
        for record in self.journaled_operations(None) {
            let changes = record?.subject.changes;
            let of_memory = changes
                .iter()
                .filter(|change| change.id == stored.memory.id);
            let mut files = of_memory.flat_map(|change| change.before.iter().chain(&change.after));
            if files.any(|file| is_private(&file.path)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the name for the file of a memory with this scope: in a replica, one with its access key.
    pub(super) fn name_in_scope(&self, name: String, scope: &Scope) -> Result<String, StoreError> {
        if self.replica.is_none() {
            return Ok(name);
        }
        Ok(name_with_key(
            &name,
            &access_key(scope, self.principal_name()?.as_deref()),
        ))
    }

    /// Returns the name for the file of a memory that moves into another scope.
    ///
    /// In a replica, it is derived from the current text: readers of the new scope do not see words of former versions.
    pub(super) fn name_in_new_scope(
        &self,
        former_name: &str,
        memory: &Memory,
    ) -> Result<String, StoreError> {
        let name = if self.replica.is_some() {
            generated_name(memory)
        } else {
            former_name.to_owned()
        };
        self.name_in_scope(name, &memory.scope)
    }

    /// Returns the bytes of a file as a log accepts them from a principal.
    pub(super) fn bytes_for_log(
        &self,
        bytes: Vec<u8>,
        memory: &Memory,
    ) -> Result<Vec<u8>, StoreError> {
        Ok(if self.principal_name()?.is_some() {
            markdown::in_order(bytes, memory)
        } else {
            bytes
        })
    }

    /// Deletes the previous versions before `before` from the log, if the store is a replica.
    pub(super) fn purge_log(
        &self,
        before: chrono::DateTime<chrono::Utc>,
    ) -> Result<(), StoreError> {
        self.replica
            .as_ref()
            .map_or(Ok(()), |replica| replica.connection.log().purge(before))
    }

    /// Creates a replica again from the log. The caller holds the lock.
    ///
    /// Returns whether the store is a replica.
    pub(super) fn restore_replica(&self) -> Result<bool, StoreError> {
        let Some(replica) = &self.replica else {
            return Ok(false);
        };
        self.create_replica(replica)?;
        Ok(true)
    }

    /// Runs `attempt`, which plans and performs an operation, again after the operations of other nodes. The caller holds the lock.
    pub(super) fn retry_outdated<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, ApplyError>,
    ) -> Result<T, StoreError> {
        let Some(replica) = &self.replica else {
            return attempt().map_err(|error| match error {
                ApplyError::Store(error) => error,
                ApplyError::Outdated | ApplyError::Diverged(_) => {
                    unreachable!("only a replica has other nodes")
                }
            });
        };
        if self.current(replica)?.is_none() {
            self.create_replica(replica)?;
        }
        if !self.queue().is_empty()? {
            match self.pull_all(replica) {
                Err(error) if is_unreachable(&error) => self.redo_queued(replica)?,
                sent => drop(sent?),
            }
        }
        let (begun, mut is_restored) = (Instant::now(), false);
        loop {
            let error = match attempt() {
                Ok(done) => return Ok(done),
                Err(ApplyError::Outdated) => None,
                Err(ApplyError::Diverged(what)) if is_restored => {
                    Some(StoreError::Conflict { what })
                }
                Err(ApplyError::Diverged(_)) => {
                    is_restored = true;
                    self.create_replica(replica)?;
                    None
                }
                Err(ApplyError::Store(error)) => Some(error),
            };
            // The error may be due to a missing operation of another node.
            if let Some(error) = error {
                let has_news = || match self.pull_all(replica) {
                    Err(error) if is_unreachable(&error) => Ok::<_, StoreError>(false),
                    pulled => Ok(!pulled?.is_empty()),
                };
                if matches!(error, StoreError::Database { .. }) || !has_news()? {
                    return Err(error);
                }
            }
            check_patience(begun, self.options.patience)?;
        }
    }

    /// Appends an operation to the log, and then performs it. The caller holds the lock.
    ///
    /// If the database cannot be reached, the operation is queued instead.
    pub(super) fn append_and_execute(
        &self,
        replica: &Replica,
        record: Recorded<JournalPayload>,
        steps: &[CommitStep],
    ) -> Result<(), ApplyError> {
        let Some(CurrentReplica {
            mut state,
            unreachable,
            ..
        }) = self.current(replica)?
        else {
            return Err(ApplyError::Outdated);
        };
        let mut files = steps
            .iter()
            .map(|step| self.new_file(step))
            .collect::<Result<Vec<_>, _>>()?;
        self.add_keys_of_placeholders(&record, &mut files)?;
        let operation = NewOperation {
            record,
            token: random_token()?,
            files,
        };
        // An operation never precedes an earlier one of this node.
        if unreachable.is_some() || !self.queue().is_empty()? {
            return Ok(self.queue_or_fail(replica, operation, unreachable)?);
        }
        let obstacle = match replica.append(&mut state.heads, &operation) {
            Ok(LogAppendResult::Appended) => {
                // The operation has happened. If it cannot be performed here, the next read or write repeats it.
                let NewOperation { record, .. } = &operation;
                if self
                    .execute_logged(replica, &mut state, record, &operation.contents())
                    .is_ok()
                {
                    let _ = self.save(&mut state);
                }
                return Ok(());
            }
            // The log may contain the operation. Then it is found there by its token.
            Err(error) if is_unreachable(&error) => {
                return Ok(self.queue_or_fail(replica, operation, Some(error))?);
            }
            Err(error) => return Err(error.into()),
            Ok(LogAppendResult::Behind) => None,
            Ok(LogAppendResult::Refused(what)) => Some(what),
        };
        let applied = match self.pull_all(replica) {
            Err(error) if is_unreachable(&error) => {
                return Ok(self.queue_or_fail(replica, operation, Some(error))?);
            }
            applied => applied?,
        };
        // The connection was lost after the operation was appended.
        if applied.contains(&operation.token) {
            return Ok(());
        }
        let obstacle = obstacle.filter(|_| applied.is_empty());
        Err(obstacle.map_or(ApplyError::Outdated, ApplyError::Diverged))
    }

    /// Queues an operation, or returns the error of the database if the store does not queue writes.
    fn queue_or_fail(
        &self,
        replica: &Replica,
        operation: NewOperation,
        unreachable: Option<StoreError>,
    ) -> Result<(), StoreError> {
        match unreachable {
            Some(error) if !self.options.queues_writes => Err(error),
            _ => self.queue_and_execute(replica, operation),
        }
    }

    /// Returns the files of a step for the log.
    fn new_file(&self, step: &CommitStep) -> Result<OperationFile, StoreError> {
        let principal = self.principal_name()?;
        let former = step
            .before
            .as_ref()
            .map(|former| load(self.disk.as_ref(), &former.path))
            .transpose()?
            .flatten();
        let key = |path: &str, memory: &Memory| {
            key_of_file(path, &memory.scope, principal.as_deref()).to_string()
        };
        let next = step.after.as_ref();
        Ok(OperationFile {
            former_key: former.map(|former| key(&former.stored.path, &former.stored.memory)),
            key: next.map(|next| key(&next.path, &decode_memory(&next.path, &next.bytes))),
            content: next.map(|next| next.bytes.clone()),
        })
    }

    /// Adds the access keys of the files that an undo leaves as they are, so that only their readers receive these placeholders.
    fn add_keys_of_placeholders(
        &self,
        record: &Recorded<JournalPayload>,
        files: &mut [OperationFile],
    ) -> Result<(), StoreError> {
        let changes = &record.subject.changes;
        let Some(undone) = record
            .undoes
            .as_ref()
            .filter(|_| changes.iter().any(RecordedChange::is_placeholder))
        else {
            return Ok(());
        };
        let principal = self.principal_name()?;
        let mut keys = HashMap::new();
        for change in self.own_changes(undone) {
            let RecordedChange {
                id, before, after, ..
            } = change?;
            let Some(file) = after.or(before).filter(|_| !keys.contains_key(&id)) else {
                continue;
            };
            // The scope matters only if the name of the file has a hash of it.
            let scope = self
                .load_current(&id)
                .map_or(Scope::Global, |(current, _)| current.stored.memory.scope);
            keys.insert(
                id,
                key_of_file(&file.path, &scope, principal.as_deref()).to_string(),
            );
        }
        for (change, file) in changes
            .iter()
            .zip(files)
            .filter(|(change, _)| change.is_placeholder())
        {
            file.former_key = keys.get(&change.id).cloned();
        }
        Ok(())
    }
}

/// Returns the contents of the new files of steps.
pub(super) fn new_contents(steps: &[CommitStep]) -> Vec<Option<&[u8]>> {
    steps
        .iter()
        .map(|step| step.after.as_ref().map(|next| next.bytes.as_slice()))
        .collect()
}

/// Returns whether steps change only files that are not in the log, the parts of conversations.
pub(super) fn is_of_conversations(steps: &[CommitStep]) -> bool {
    !steps.is_empty() && steps.iter().all(is_of_conversation)
}

/// Returns whether steps change both memories, which are in the log, and parts of conversations.
pub(super) fn is_mixed(steps: &[CommitStep]) -> bool {
    steps.iter().any(is_of_conversation) && !is_of_conversations(steps)
}

fn is_of_conversation(step: &CommitStep) -> bool {
    let former = step.before.as_ref().map(|former| former.path.as_str());
    former
        .or(step.after.as_ref().map(|next| next.path.as_str()))
        .is_some_and(is_conversation_file)
}
