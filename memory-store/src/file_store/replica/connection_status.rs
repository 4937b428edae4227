//! The connection of a replica with its database, for people and programs.

use std::fs::File;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use memory_core::StoreError;

use super::state::STATE;
use crate::disk::now_ns;
use crate::file_store::FileStore;
use crate::memory_file::time_from_nanos;

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
}

/// What happened to writes without the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueNotices {
    /// Whether a write was queued.
    pub is_queued: bool,
    /// The number of changes that were sent as proposals, because their memories or the access to them changed meanwhile.
    pub proposed: u64,
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
        }))
    }

    /// Returns what happened to queued operations since the last call.
    pub fn take_queue_notices(&self) -> QueueNotices {
        self.replica
            .as_ref()
            .map(|replica| std::mem::take(&mut *replica.notices()))
            .unwrap_or_default()
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
