//! The files of a replica that are not synced yet.
//!
//! The log has an operation before the replica performs it. So a power cut may lose files of the replica, but no operation, and operations
//! of the log are performed without syncs. After the next start of the system, the first access compares the files with the journal, and
//! the replica is created again if any file was lost.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::{ContentHash, Recorded, StoreError};

use super::Replica;
use super::state::ReplicaState;
use crate::error::{io_error, read_error};
use crate::file_store::FileStore;
use crate::journal::JournalPayload;
use crate::memory_file::is_conversation_file;
use crate::oplog::{Durability, LogPosition};

/// Maximum length of the unsynced lines of the journal, in bytes.
const MAX_UNSYNCED: u64 = 256 * 1024;

/// The current start of the system, and whether its replica was checked since then.
#[derive(Debug, Default)]
pub(super) struct SystemStart {
    /// The id of this start; `None` if the system has none. All files are synced then.
    id: Option<String>,
    is_checked: AtomicBool,
}

impl SystemStart {
    /// Returns the current start of the system.
    pub(super) fn current() -> Self {
        Self {
            id: boot_id(),
            is_checked: AtomicBool::default(),
        }
    }
}

/// Returns the id of the current start of the system, if it has one.
fn boot_id() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

impl Replica {
    /// Returns the id of the current start of the system, if it has one.
    pub(super) fn start_id(&self) -> Option<String> {
        self.start.id.clone()
    }
}

impl FileStore {
    /// Performs an operation that is in the log. The caller holds the lock, and saves the state.
    pub(super) fn execute_logged(
        &self,
        replica: &Replica,
        state: &mut ReplicaState,
        record: &Recorded<JournalPayload>,
        contents: &[Option<&[u8]>],
    ) -> Result<(), StoreError> {
        let durability = self.prepare_unsynced(replica, state)?;
        self.execute(record, contents, durability)
    }

    /// Returns how the next operation is performed, and syncs the files if many changes are not synced yet.
    fn prepare_unsynced(
        &self,
        replica: &Replica,
        state: &mut ReplicaState,
    ) -> Result<Durability, StoreError> {
        let Some(start) = &replica.start.id else {
            return Ok(Durability::Synced);
        };
        let end = self.journal().end()?;
        let synced = state.synced.as_deref().and_then(LogPosition::from_text);
        if state.start.as_ref() == Some(start)
            && synced.is_some_and(|synced| end.is_within(MAX_UNSYNCED, &synced))
        {
            return Ok(Durability::Unsynced);
        }
        if !self.sync_unsynced(replica)? {
            return Ok(Durability::Synced);
        }
        (state.start, state.synced) = (replica.start_id(), Some(end.to_text()));
        Ok(Durability::Unsynced)
    }

    /// Syncs all files and records this, and returns whether the system supports it in one call. The caller holds the lock.
    pub(super) fn sync_unsynced(&self, replica: &Replica) -> Result<bool, StoreError> {
        let (Some(start), Some(mut state)) = (replica.start_id(), self.read_state()?) else {
            return Ok(false);
        };
        let end = self.journal_end()?;
        let refused = |error| io_error(format!("sync {}", self.root.display()), error);
        if !self.disk.sync_everything().map_err(refused)? {
            return Ok(false);
        }
        // If the record is lost, the files are checked from an earlier position.
        (state.start, state.synced) = (Some(start), Some(end));
        self.write_state(&state).map(|()| true)
    }

    /// Returns whether the store is a replica that must be created again before it is used.
    pub(in super::super) fn is_incomplete_replica(&self) -> Result<bool, StoreError> {
        let Some(replica) = &self.replica else {
            return Ok(false);
        };
        // A damaged state is reported where it is used.
        let Ok(Some(state)) = self.read_state() else {
            return Ok(false);
        };
        Ok(state.journal.is_none() || self.has_lost_files(replica, &state)?)
    }

    /// Returns whether the replica has lost files at a power cut. It is only checked after a start of the system.
    pub(super) fn has_lost_files(
        &self,
        replica: &Replica,
        state: &ReplicaState,
    ) -> Result<bool, StoreError> {
        if state.start == replica.start.id || replica.start.is_checked.load(Ordering::SeqCst) {
            return Ok(false);
        }
        let Some(end) = state.journal.as_deref().and_then(LogPosition::from_text) else {
            return Ok(false);
        };
        let synced = state.synced.as_deref().and_then(LogPosition::from_text);
        let has_journal = self.journal().reaches(&end)?;
        let has_lost = !has_journal || self.has_lost_files_after(&synced.unwrap_or(end))?;
        replica.start.is_checked.store(!has_lost, Ordering::SeqCst);
        Ok(has_lost)
    }

    fn has_lost_files_after(&self, position: &LogPosition) -> Result<bool, StoreError> {
        let Some(records) = self.journal().complete_operations_after(position)? else {
            return Ok(true);
        };
        // The newest operation of a path determines its content.
        let mut expected: HashMap<&str, Option<ContentHash>> = HashMap::new();
        for record in &records {
            let changes = || record.subject.changes.iter();
            let added = changes().filter_map(|change| change.after.as_ref());
            let removed = changes().filter_map(|change| change.before.as_ref());
            let trashed = removed
                .clone()
                .filter_map(|file| Some((file.trash.as_deref()?, Some(file.hash))));
            let files = added.map(|file| (file.path.as_str(), Some(file.hash)));
            let files = files
                .chain(removed.map(|file| (file.path.as_str(), None)))
                .chain(trashed);
            // Parts of conversations are synced, and change without a line in the journal.
            for (path, hash) in files.filter(|(path, _)| !is_conversation_file(path)) {
                expected.entry(path).or_insert(hash);
            }
        }
        for (path, hash) in expected {
            let read = self.disk.read(path).map_err(read_error(path))?;
            if read.map(|(bytes, _)| ContentHash::from_bytes(&bytes)) != hash {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
