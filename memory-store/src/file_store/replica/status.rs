//! The state of a replica and of its connection with the database, for people and programs.

use std::fs::{self, File};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, Utc};
use memory_core::{Code, ReplicaStatus, StoreError, StoreHealth};

use super::Replica;
use super::creation::UNSYNCED;
use super::state::STATE;
use crate::FileStore;
use crate::disk::now_ns;
use crate::memory_file::time_from_nanos;
use crate::shared_log::{LogAppendResult, LogHeads, LogPage, NewOperation};

/// Minimum time between two records of a contact, in nanoseconds.
const CONTACT_INTERVAL_NS: i64 = 10_000_000_000;

/// The state of a replica of a shared database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedStoreStatus {
    /// The reason why the last attempt to fetch operations failed, if it did.
    pub trouble: Option<String>,
    /// The time of the last contact with the database, at most 10 s too early; `None` before the first one.
    pub last_contact: Option<DateTime<Utc>>,
    /// The number of operations that are not in the database yet.
    pub queued: u64,
    /// The time of the first of them.
    pub queued_since: Option<DateTime<Utc>>,
    /// The number of files in `unsynced/`: edits of other programs, and files that a restored database lacks.
    pub set_aside: u64,
}

/// What happened to writes without the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueNotices {
    /// Whether a write was queued.
    pub is_queued: bool,
    /// The number of changes that were sent as proposals, because their memories or the access to them changed meanwhile.
    pub proposed: u64,
}

/// What happened since a replica was opened.
#[derive(Debug, Default)]
pub(super) struct ReplicaEvents {
    /// Number of operations of the log that were applied.
    pub pulled: u64,
    appended: u64,
    conflicts: u64,
    last_contact: Option<Instant>,
    /// The notices about the queue that the caller has not taken.
    pub notices: QueueNotices,
}

impl Replica {
    pub(super) fn events(&self) -> MutexGuard<'_, ReplicaEvents> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next operations of the log.
    pub(super) fn pull(&self, known: &LogHeads) -> Result<LogPage, StoreError> {
        let page = self.connection.log().pull(known)?;
        self.events().last_contact = Some(Instant::now());
        Ok(page)
    }

    /// Appends an operation to the log.
    pub(super) fn append(
        &self,
        known: &mut LogHeads,
        operation: &NewOperation,
    ) -> Result<LogAppendResult, StoreError> {
        let result = self.connection.log().append(known, operation)?;
        let mut events = self.events();
        events.last_contact = Some(Instant::now());
        match result {
            LogAppendResult::Appended => events.appended += 1,
            LogAppendResult::Behind | LogAppendResult::Refused(_) => events.conflicts += 1,
        }
        Ok(result)
    }

    fn status(&self) -> ReplicaStatus {
        let events = self.events();
        ReplicaStatus {
            since_contact: events.last_contact.map(|last| last.elapsed()),
            pulled: events.pulled,
            appended: events.appended,
            conflicts: events.conflicts,
            database: self.connection.log().figures(),
        }
    }
}

impl StoreHealth for FileStore {
    fn check_ready(&self) -> Result<(), Code> {
        self.catch_up().map_err(|error| error.code())?;
        let replica = self.replica.as_ref();
        let trouble = replica.and_then(|replica| replica.connection.trouble());
        trouble.map_or(Ok(()), |(code, _)| Err(code))
    }

    fn replica_status(&self) -> Option<ReplicaStatus> {
        self.replica.as_ref().map(Replica::status)
    }
}

impl FileStore {
    /// Returns the state of the replica, as the last read or write found it; `None` if the store is no replica.
    ///
    /// # Errors
    /// If the queue cannot be read.
    pub fn shared_store_status(&self) -> Result<Option<SharedStoreStatus>, StoreError> {
        let Some(replica) = &self.replica else {
            return Ok(None);
        };
        let trouble = replica.connection.trouble().map(|(_, trouble)| trouble);
        let last_contact = self.last_contact();
        let queue = self.queue();
        Ok(Some(SharedStoreStatus {
            trouble,
            last_contact,
            queued: queue.len()? as u64,
            queued_since: queue.oldest()?,
            set_aside: self.set_aside_files().len() as u64,
        }))
    }

    /// Returns the paths of the files that were set aside because the database does not have them, below the home.
    pub(in crate::file_store) fn set_aside_files(&self) -> Vec<String> {
        let mut folders = vec![self.root.join(UNSYNCED)];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(path) = path.strip_prefix(&self.root) {
                    files.push(path.to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        files
    }

    /// Returns what happened to queued operations since the last call.
    pub fn take_queue_notices(&self) -> QueueNotices {
        let replica = self.replica.as_ref();
        replica.map_or_else(QueueNotices::default, |replica| {
            std::mem::take(&mut replica.events().notices)
        })
    }

    /// Adds the reason why a replica may be outdated to the reasons why a result may be incomplete.
    pub(in crate::file_store) fn with_replica_lag(
        &self,
        degraded: Option<String>,
    ) -> Option<String> {
        let reasons: Vec<_> = degraded.into_iter().chain(self.replica_lag()).collect();
        Some(reasons.join("; ")).filter(|reasons| !reasons.is_empty())
    }

    /// Returns why the memories may be outdated, if the last read could not reach the database.
    pub fn replica_lag(&self) -> Option<String> {
        let (_, trouble) = self.replica.as_ref()?.connection.trouble()?;
        let since = self
            .last_contact()
            .map(|at| format!("offline since {}; ", at.format("%Y-%m-%d %H:%M UTC")));
        Some(format!(
            "{}the memories may be outdated: {trouble}",
            since.unwrap_or_default()
        ))
    }

    /// Returns the time of the last contact with the database. It is the time of the file of the state.
    fn last_contact(&self) -> Option<DateTime<Utc>> {
        let changed = self.disk.stat(STATE).ok()??.modified_ns;
        Some(time_from_nanos(changed)).filter(|_| self.has_state())
    }

    /// Records that the database was reached. A failure only makes the time of the last contact wrong.
    pub(super) fn record_contact(&self) {
        let now = now_ns();
        let is_recent =
            |former: i64| (0..CONTACT_INTERVAL_NS).contains(&now.saturating_sub(former));
        if !self
            .disk
            .stat(STATE)
            .is_ok_and(|found| found.is_none_or(|found| is_recent(found.modified_ns)))
        {
            let time = SystemTime::UNIX_EPOCH
                + Duration::from_nanos(u64::try_from(now).unwrap_or_default());
            let _ = File::options()
                .write(true)
                .open(self.root.join(STATE))
                .and_then(|file| file.set_modified(time));
        }
    }
}
