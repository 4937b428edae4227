//! Writes without the database, and their transfer to the log.
//!
//! A queued operation is in the files of the replica and in its journal, so reads, search and undo on this node include it. Once the
//! database is reached, the queued operations are appended in their order. If other nodes have appended operations since, the queued ones
//! are first taken back from the files. Then the operations of the other nodes are applied, and each queued one is repeated if its files
//! are in the expected state. Otherwise it becomes a proposal.
//!
//! The files are the only record of the progress: an operation that is queued and not in the journal is to be repeated. The log
//! recognizes an operation by its token. Its file is removed from the queue after it is in the log and in the files, and before the state
//! of the replica counts it.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io;

use memory_core::{
    ContentHash, FileVersion, LARGE_OPERATION, Memory, MemoryId, Operation, Phase, Proposal,
    ProposalTarget, ProposedAction, Recorded, RecordedChange, Scope, StoreError, StoredMemory,
    Verb, text,
};

use super::Replica;
use super::state::{CurrentReplica, ReplicaState};
use crate::access_key::{access_key, key_of_file, numbered_path};
use crate::error::io_error;
use crate::file_store::FileStore;
use crate::index::{AppliedChange, MemoryLocation, RefreshDepth};
use crate::journal::{
    CommitStep, JournalPayload, PlannedFile, ReplacedFile, record_steps, take_back_record,
};
use crate::log_connection::is_unreachable;
use crate::markdown;
use crate::memory_file::load;
use crate::offline_queue::{OFFLINE_FOLDER, OfflineQueue, QueuedOperation};
use crate::oplog::Durability;
use crate::shared_log::{LogAppendResult, NewOperation, OperationFile, decode_memory};

/// The reason of a proposal in the journal.
const CONFLICT_REASON: &str = "changed on another machine while this one was offline";

/// The reason of a proposal whose scope was withdrawn from the principal.
const LOST_SCOPE_REASON: &str = "access to the scope was withdrawn while this machine was offline";

/// The result of an attempt to append the queued operations.
#[derive(Debug)]
pub(super) enum SendResult {
    Sent,
    /// The log has further operations.
    Outdated,
    /// The log has no further operations, and refuses the one with this token because of a document.
    Refused {
        token: i64,
        what: String,
    },
}

impl FileStore {
    /// Returns the queue of the operations that are not in the log yet.
    pub(super) fn queue(&self) -> OfflineQueue<'_> {
        OfflineQueue::new(self.disk.as_ref())
    }

    /// Queues an operation durably, and performs it on the files. The caller holds the lock.
    pub(super) fn queue_and_execute(
        &self,
        replica: &Replica,
        operation: NewOperation,
    ) -> Result<(), StoreError> {
        // Without the database, lost files could not be restored.
        if self.queue().is_empty()? {
            self.sync_unsynced(replica)?;
        }
        let queued = self.queue().push(operation)?;
        let operation = &queued.operation;
        if let Err(error) =
            self.execute(&operation.record, &operation.contents(), Durability::Synced)
        {
            // The caller learns that the operation failed, so it must not happen later.
            self.queue().remove(&queued)?;
            return Err(error);
        }
        replica.events().notices.is_queued = true;
        Ok(())
    }

    /// Repeats the queued operations that are not in the files because of an interruption. The caller holds the lock.
    pub(super) fn redo_queued(&self, replica: &Replica) -> Result<(), StoreError> {
        let Some(current) = self.current(replica)? else {
            return Ok(());
        };
        let mut left = self.queue().read()?;
        left.drain(..self.performed(&current, &left)?);
        while !left.is_empty() {
            let mut first = left.remove(0);
            self.fit(&mut first, &mut left, false)?;
            let operation = &first.operation;
            if !operation.files.is_empty() {
                self.execute(&operation.record, &operation.contents(), Durability::Synced)?;
            }
        }
        Ok(())
    }

    /// Returns how many queued operations are in the files. They are performed in their order.
    pub(super) fn performed(
        &self,
        current: &CurrentReplica,
        queued: &[QueuedOperation],
    ) -> Result<usize, StoreError> {
        for (place, QueuedOperation { operation, .. }) in queued.iter().enumerate().rev() {
            if current.has(&operation.record) || self.has_effect(operation)? {
                return Ok(place + 1);
            }
        }
        Ok(0)
    }

    /// Returns whether a file is as a queued operation leaves it, there or in the trash.
    fn has_effect(&self, queued: &NewOperation) -> Result<bool, StoreError> {
        for change in &queued.record.subject.changes {
            let kept = change.after.as_ref().map(|after| (&after.path, after.hash));
            let trashed = change.before.as_ref().and_then(|before| {
                let trash = before.trash.as_ref()?;
                Some((trash, before.hash))
            });
            let Some((path, hash)) = kept.or(trashed) else {
                continue;
            };
            let found = load(self.disk.as_ref(), path)?.map(|found| found.stored.stamp);
            if found == Some(FileVersion(hash)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Restores the files from before an operation, and removes it from the journal.
    pub(super) fn take_back(&self, record: &Recorded<JournalPayload>) -> Result<(), StoreError> {
        take_back_record(self.disk.as_ref(), record)?;
        let restored =
            record
                .subject
                .changes
                .iter()
                .filter_map(|RecordedChange { before, after, .. }| {
                    let path = after.as_ref().map(|after| after.path.clone());
                    match before {
                        Some(before) => Some(AppliedChange::Kept {
                            path: before.path.clone(),
                            former_path: path,
                        }),
                        None => path.map(|path| AppliedChange::Removed { path }),
                    }
                });
        // A failed update of the index is detected by the next refresh.
        let _ = self
            .index
            .apply(&restored.collect::<Vec<_>>(), Some(&self.journal_end()?));
        Ok(())
    }

    /// Appends the queued operations to the log, and performs those that are not in the files. The caller holds the lock.
    ///
    /// Without the database, the others are performed too, and stay in the queue.
    pub(super) fn append_queued(
        &self,
        replica: &Replica,
        state: &mut ReplicaState,
        refusals: &HashMap<i64, u32>,
    ) -> Result<SendResult, StoreError> {
        let Some(current) = self.current(replica)? else {
            return Ok(SendResult::Outdated);
        };
        let mut left = self.queue().read()?;
        let mut unreachable = None;
        while !left.is_empty() {
            let mut first = left.remove(0);
            let is_in_files = current.has(&first.operation.record);
            if !is_in_files {
                let refused = refusals.get(&first.operation.token);
                self.fit(
                    &mut first,
                    &mut left,
                    refused.is_some_and(|count| 2 <= *count),
                )?;
            }
            let operation = &first.operation;
            let is_empty = operation.files.is_empty();
            if unreachable.is_none() && !is_empty {
                match replica.append(&mut state.heads, operation) {
                    Ok(LogAppendResult::Appended) => {
                        let changes = &operation.record.subject.changes;
                        let proposals = changes
                            .iter()
                            .filter(|change| is_proposal_reason(change.why.as_deref()));
                        replica.events().notices.proposed += proposals.count() as u64;
                    }
                    Ok(LogAppendResult::Behind) => return Ok(SendResult::Outdated),
                    Ok(LogAppendResult::Refused(what)) => {
                        let is_current = replica.pull(&state.heads)?.operations.is_empty();
                        let token = operation.token;
                        return Ok(if is_current {
                            SendResult::Refused { token, what }
                        } else {
                            SendResult::Outdated
                        });
                    }
                    Err(error) if is_unreachable(&error) => unreachable = Some(error),
                    Err(error) => return Err(error),
                }
            }
            if !is_in_files && !is_empty {
                self.execute(&operation.record, &operation.contents(), Durability::Synced)?;
            }
            if unreachable.is_none() {
                self.queue().remove(&first)?;
                self.save(state)?;
            }
        }
        unreachable.map_or(Ok(SendResult::Sent), Err)
    }

    /// Fits a queued operation to the current files, durably.
    ///
    /// A change whose file is not in the expected state becomes a proposal, which includes the changes of this memory by the `later`
    /// operations. The changes of a small operation belong together, so then all of them become proposals.
    fn fit(
        &self,
        queued: &mut QueuedOperation,
        later: &mut [QueuedOperation],
        is_forced: bool,
    ) -> Result<(), StoreError> {
        self.index.refresh(RefreshDepth::Names)?;
        let NewOperation { record, .. } = &queued.operation;
        let changes = &record.subject.changes;
        let conflicts = changes
            .iter()
            .map(|change| self.is_conflict(change))
            .collect::<Result<Vec<_>, _>>()?;
        let is_whole = is_forced || changes.len() < LARGE_OPERATION && conflicts.contains(&true);
        let (mut steps, mut files) = (Vec::new(), Vec::new());
        let (mut taken, mut proposed, mut moved) = (HashSet::new(), HashSet::new(), HashMap::new());
        for ((change, file), is_conflict) in queued.operation.changes().zip(conflicts) {
            if (is_whole || is_conflict) && !change.is_placeholder() {
                let mut last = (change, file);
                for QueuedOperation { operation, .. } in later.iter() {
                    let of_memory = operation.changes().filter(|(own, _)| own.id == change.id);
                    last = of_memory.last().unwrap_or(last);
                }
                proposed.insert(change.id);
                if let Some(memory) = self.propose(&record.operation, change, last, is_forced)? {
                    let name =
                        format!("{}-{}.md", text::slug(memory.headline()), memory.id.short());
                    let name = self.name_in_scope(name, &memory.scope)?;
                    let path = self.unused_path(&format!("categories/inbox/{name}"), &mut taken)?;
                    let bytes = markdown::encode(&memory, "").into_bytes();
                    let key =
                        access_key(&memory.scope, self.principal_name()?.as_deref()).to_string();
                    files.push(OperationFile {
                        former_key: None,
                        key: Some(key),
                        content: Some(bytes.clone()),
                    });
                    let (after, why) = (
                        Some(PlannedFile { path, bytes }),
                        Some(self.proposal_reason(change)?.to_owned()),
                    );
                    steps.push(CommitStep {
                        id: memory.id,
                        before: None,
                        after,
                        why,
                    });
                }
                continue;
            }
            let before = change.before.as_ref().map(|former| ReplacedFile {
                path: former.path.clone(),
                hash: former.hash,
            });
            let after = match change.after.as_ref().zip(file.content.clone()) {
                None => None,
                Some((after, bytes))
                    if before
                        .as_ref()
                        .is_some_and(|before| before.path == after.path) =>
                {
                    Some(PlannedFile {
                        path: after.path.clone(),
                        bytes,
                    })
                }
                Some((after, bytes)) => {
                    let path = self.unused_path(&after.path, &mut taken)?;
                    if path != after.path {
                        moved.insert(change.id, (after.path.clone(), path.clone()));
                    }
                    Some(PlannedFile { path, bytes })
                }
            };
            files.push(file.clone());
            steps.push(CommitStep {
                id: change.id,
                before,
                after,
                why: change.why.clone(),
            });
        }
        let mut operation = record.operation.clone();
        if changes.iter().all(|change| proposed.contains(&change.id)) {
            operation.verb = Verb::Propose;
        }
        // An undo only reverts changes. The rest of the operation can be undone later.
        let is_undo = steps
            .iter()
            .all(|step| !is_proposal_reason(step.why.as_deref()));
        let undoes = record.undoes.clone().filter(|_| is_undo);
        let fitted = record_steps(self.disk.as_ref(), &operation, undoes.as_ref(), &steps);
        if fitted != *record {
            (queued.operation.record, queued.operation.files) = (fitted, files);
            self.queue().replace(queued)?;
        }
        // The proposals are durable, so the later changes are not lost.
        for queued in later {
            let operation = &mut queued.operation;
            let changes = std::mem::take(&mut operation.record.subject.changes);
            let is_affected = changes
                .iter()
                .any(|change| proposed.contains(&change.id) || moved.contains_key(&change.id));
            let files = std::mem::take(&mut operation.files);
            let left = changes
                .into_iter()
                .zip(files)
                .filter(|(change, _)| !proposed.contains(&change.id));
            (operation.record.subject.changes, operation.files) = left.unzip();
            for change in &mut operation.record.subject.changes {
                let Some((from, to)) = moved.get(&change.id) else {
                    continue;
                };
                let files = change.before.iter_mut().chain(&mut change.after);
                files
                    .filter(|file| file.path == *from)
                    .for_each(|file| file.path.clone_from(to));
            }
            if is_affected {
                self.queue().replace(queued)?;
            }
        }
        Ok(())
    }

    /// Returns whether the file of a change is not in the expected state, or the principal of the node may no longer write its scope.
    fn is_conflict(&self, change: &RecordedChange) -> Result<bool, StoreError> {
        if let Some(after) = &change.after
            && !self.is_writable(&key_of_file(&after.path, &Scope::Global, None))?
        {
            return Ok(true);
        }
        match (&change.before, &change.after) {
            (Some(former), _) => {
                let found = load(self.disk.as_ref(), &former.path)?;
                Ok(found.is_none_or(|found| found.stored.stamp != FileVersion(former.hash)))
            }
            (None, Some(_)) => Ok(self.find(&change.id)?.is_some()),
            (None, None) => Ok(false),
        }
    }

    /// Returns why a change becomes a proposal.
    fn proposal_reason(&self, change: &RecordedChange) -> Result<&'static str, StoreError> {
        for file in change.before.iter().chain(&change.after) {
            if !self.is_writable(&key_of_file(&file.path, &Scope::Global, None))? {
                return Ok(LOST_SCOPE_REASON);
            }
        }
        Ok(CONFLICT_REASON)
    }

    /// Returns whether the principal of the node may write an access key, according to the last contact with the database.
    fn is_writable(&self, key: &Scope) -> Result<bool, StoreError> {
        let state = self.read_state()?;
        Ok(state.is_none_or(|state| state.is_writable(&key.to_string())))
    }

    /// Returns the scope of a proposal for a memory: that of the memory, unless the principal of the node may no longer write it.
    fn scope_of_proposal(&self, scope: Scope) -> Result<Scope, StoreError> {
        match self.principal_name()? {
            Some(principal) if !self.is_writable(&access_key(&scope, Some(&principal)))? => {
                Ok(Scope::Private(principal))
            }
            _ => Ok(scope),
        }
    }

    fn find(&self, id: &MemoryId) -> Result<Option<StoredMemory>, StoreError> {
        let Some(MemoryLocation { path, .. }) = self.index.locate(id)? else {
            return Ok(None);
        };
        Ok(load(self.disk.as_ref(), &path)?.map(|found| found.stored))
    }

    /// Returns the proposal for a memory that `operation` and later ones have changed, unless nothing is left to propose.
    ///
    /// `first` is the first change of the memory, and `last` the last one with its file. If the database `is_refusing` the change, a memory that
    /// this node does not see may have the id, so the proposal has another one.
    fn propose(
        &self,
        operation: &Operation,
        first: &RecordedChange,
        last: (&RecordedChange, &OperationFile),
        is_refusing: bool,
    ) -> Result<Option<Memory>, StoreError> {
        let current = self.find(&first.id)?;
        let base = first.before.as_ref().map(|former| former.hash);
        let next = last.0.after.as_ref().zip(last.1.content.as_deref());
        if next.map(|(_, bytes)| ContentHash::from_bytes(bytes)) == base {
            return Ok(None);
        }
        let target = |current: &StoredMemory| ProposalTarget {
            id: first.id,
            base: base.map_or(current.stamp, FileVersion),
        };
        let (memory, action) = match (current, next) {
            (None, None) => return Ok(None),
            (Some(current), None) => (
                current.memory.clone(),
                ProposedAction::Delete(target(&current)),
            ),
            (None, Some((after, bytes))) => {
                (decode_memory(&after.path, bytes), ProposedAction::Write)
            }
            (Some(current), Some((after, bytes))) => {
                let memory = decode_memory(&after.path, bytes);
                if is_equal(&memory, &current.memory) {
                    return Ok(None);
                }
                (memory, ProposedAction::Update(target(&current)))
            }
        };
        let is_write = matches!(action, ProposedAction::Write);
        let is_free = is_write && base.is_none() && !is_refusing;
        // The id depends only on the proposal, so an interruption does not lead to a second one.
        let (by, at) = (operation.by.clone(), operation.at);
        let parts = [
            action.fingerprint(&memory).to_string(),
            memory.scope.to_string(),
            first.id.to_string(),
            by.clone(),
        ];
        let id = if is_free {
            first.id
        } else {
            MemoryId::for_path(&format!("{OFFLINE_FOLDER}/{}", parts.join("/")))
        };
        if !is_free && self.find(&id)?.is_some() {
            return Ok(None);
        }
        // The new version of a proposal becomes a further proposal.
        let proposal = memory
            .proposal
            .clone()
            .filter(|_| next.is_some())
            .unwrap_or(Proposal { by, action });
        let scope = self.scope_of_proposal(memory.scope.clone())?;
        let (origin, other_origins) = if is_write {
            (memory.origin, memory.other_origins)
        } else {
            (None, Vec::new())
        };
        Ok(Some(Memory {
            id,
            scope,
            phase: Phase::Inbox,
            created_at: at,
            updated_at: at,
            access_count: 0,
            version: 1,
            summarised_by: None,
            origin,
            other_origins,
            proposal: Some(proposal),
            ..memory
        }))
    }

    /// Returns `path`, or a similar one if it is in use or `taken`, and adds it to `taken`.
    fn unused_path(&self, path: &str, taken: &mut HashSet<String>) -> Result<String, StoreError> {
        let others = (2..).map(|number| numbered_path(path, number));
        for path in std::iter::once(path.to_owned()).chain(others) {
            let found = self
                .disk
                .stat(&path)
                .map_err(|error| io_error(format!("check {path}"), error))?;
            if found.is_none() && taken.insert(path.clone()) {
                return Ok(path);
            }
        }
        unreachable!("numbers do not run out")
    }
}

/// Returns whether the principal of the node may write all scopes of a queued operation.
pub(super) fn is_permitted(operation: &NewOperation, state: &ReplicaState) -> bool {
    let mut keys = operation.files.iter().flat_map(OperationFile::keys);
    keys.all(|key| state.is_writable(key))
}

/// Returns whether a reason in the journal is that of a proposal instead of a queued change.
fn is_proposal_reason(why: Option<&str>) -> bool {
    why.is_some_and(|why| [CONFLICT_REASON, LOST_SCOPE_REASON].contains(&why))
}

pub(super) fn is_missing_file(error: &StoreError) -> bool {
    let StoreError::Backend { source, .. } = error else {
        return false;
    };
    source
        .downcast_ref::<io::Error>()
        .is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
}

/// Returns whether two versions of a memory differ only in their counters and the times of the change.
fn is_equal(one: &Memory, other: &Memory) -> bool {
    let Memory {
        updated_at,
        stated_at,
        access_count,
        version,
        ..
    } = *other;
    Memory {
        updated_at,
        stated_at,
        access_count,
        version,
        ..one.clone()
    } == *other
}
