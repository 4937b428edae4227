//! The resource limits of the Unix socket server, and the resources that its connections share.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::places::Places;

/// Resource limits of the Unix socket server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketLimits {
    /// Maximum number of connections of one user that are served at the same time.
    pub connections: usize,
    /// Maximum time that a connection beyond them waits for a place.
    pub patience: Duration,
    /// Maximum number of requests of one connection that are executed or have unread responses.
    pub at_once: usize,
    /// Maximum number of lines of all connections that are executed at the same time.
    pub workers: usize,
    /// Maximum time from the first byte of a line to its end.
    pub line_time: Duration,
    /// Maximum time that a client may take to read a response.
    pub read_time: Duration,
    /// Time that running requests get after shutdown was requested.
    pub last_words: Duration,
}

impl Default for SocketLimits {
    fn default() -> Self {
        Self {
            connections: 500,
            patience: Duration::from_secs(1),
            at_once: 8,
            workers: thread::available_parallelism()
                .map_or(2, NonZero::get)
                .max(2),
            line_time: Duration::from_secs(30),
            read_time: Duration::from_secs(10),
            last_words: Duration::from_secs(3),
        }
    }
}

/// Resources that all connections share.
#[derive(Debug)]
pub(super) struct SharedResources {
    /// The limits.
    pub limits: SocketLimits,
    /// The places of the connections that are served.
    pub places: Arc<Places>,
    /// One permit for each line that is executed.
    pub workers: Arc<Semaphore>,
    /// One permit for each line that is longer than [`SHORT`].
    pub long_lines: Arc<Semaphore>,
    /// One permit for each KiB of unread responses.
    answers: Arc<Semaphore>,
}

/// Maximum length of a line that needs no permit, in bytes.
pub(super) const SHORT: usize = 64 << 10;

/// Maximum number of longer lines that are read at the same time.
const LONG_LINES: usize = 8;

/// Budget for unread responses, in KiB.
const ANSWERS: usize = 64 << 10;

impl SharedResources {
    /// Creates the resources for `limits`.
    pub(super) fn new(limits: SocketLimits) -> Self {
        let semaphore = |count: usize| Arc::new(Semaphore::new(count));
        Self {
            limits,
            places: Places::new(limits.connections),
            workers: semaphore(limits.workers),
            long_lines: semaphore(LONG_LINES),
            answers: semaphore(ANSWERS),
        }
    }

    /// Reserves budget for a response of `bytes` bytes; `None` if it is exhausted.
    pub(super) fn try_reserve(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.answers)
            .try_acquire_many_owned(kib_permits(bytes))
            .ok()
    }

    /// Waits for budget for a response of `bytes` bytes. A response larger than the budget gets all of it.
    pub(super) async fn reserve(&self, bytes: usize) -> OwnedSemaphorePermit {
        unwrap_permit(
            Arc::clone(&self.answers)
                .acquire_many_owned(kib_permits(bytes))
                .await,
        )
    }
}

/// Returns the number of permits for a response, in KiB.
fn kib_permits(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10).min(ANSWERS)).expect("it is at most that")
}

/// Unwraps an acquired permit.
pub(super) fn unwrap_permit(
    permit: Result<OwnedSemaphorePermit, tokio::sync::AcquireError>,
) -> OwnedSemaphorePermit {
    permit.expect("none of the semaphores is ever closed")
}
