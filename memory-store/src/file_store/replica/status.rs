//! Figures of a replica, and the check that it can be used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use memory_core::{Code, ReplicaStatus, StoreError, StoreHealth};

use super::Replica;
use crate::FileStore;
use crate::shared_log::{LogAppendResult, LogHeads, LogPage, NewOperation};

/// Counts the operations of a replica since it was opened.
#[derive(Debug, Default)]
pub(super) struct ReplicaCounters {
    pulled: AtomicU64,
    appended: AtomicU64,
    conflicts: AtomicU64,
    last_contact: Mutex<Option<Instant>>,
}

impl ReplicaCounters {
    /// Counts an operation of the log that was applied.
    pub(super) fn count_pulled(&self) {
        self.pulled.fetch_add(1, Ordering::Relaxed);
    }

    fn record_contact(&self) {
        *self
            .last_contact
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

impl Replica {
    /// Returns the next operations of the log.
    pub(super) fn pull(&self, known: &LogHeads) -> Result<LogPage, StoreError> {
        self.connection
            .log()
            .pull(known)
            .inspect(|_| self.counters.record_contact())
    }

    /// Appends an operation to the log.
    pub(super) fn append(
        &self,
        known: &mut LogHeads,
        operation: &NewOperation,
    ) -> Result<LogAppendResult, StoreError> {
        let result = self.connection.log().append(known, operation)?;
        self.counters.record_contact();
        let count = match result {
            LogAppendResult::Appended => &self.counters.appended,
            LogAppendResult::Behind | LogAppendResult::Refused(_) => &self.counters.conflicts,
        };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(result)
    }

    fn status(&self) -> ReplicaStatus {
        let last_contact = *self
            .counters
            .last_contact
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ReplicaStatus {
            since_contact: last_contact.map(|last| last.elapsed()),
            pulled: count(&self.counters.pulled),
            appended: count(&self.counters.appended),
            conflicts: count(&self.counters.conflicts),
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
