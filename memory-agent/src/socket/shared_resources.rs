//! Resources that all connections of the socket share.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::SocketLimits;

/// Resources that all connections share.
#[derive(Debug)]
pub(super) struct SharedResources {
    /// The limits.
    pub limits: SocketLimits,
    /// One permit for each connection that is served.
    pub places: Arc<Semaphore>,
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
const LONG_LINES: usize = 32;

/// Budget for unread responses, in KiB.
const ANSWERS: usize = 64 << 10;

impl SharedResources {
    /// Creates the resources for `limits`.
    pub(super) fn new(limits: SocketLimits) -> Self {
        let semaphore = |count: usize| Arc::new(Semaphore::new(count));
        Self {
            limits,
            places: semaphore(limits.connections),
            workers: semaphore(limits.workers),
            long_lines: semaphore(LONG_LINES),
            answers: semaphore(ANSWERS),
        }
    }

    /// Reserves budget for a response of `bytes` bytes; `None` if it is exhausted.
    pub(super) fn try_reserve(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.answers).try_acquire_many_owned(kib_permits(bytes)).ok()
    }

    /// Waits for budget for a response of `bytes` bytes. A response larger than the budget gets all of it.
    pub(super) async fn reserve(&self, bytes: usize) -> OwnedSemaphorePermit {
        unwrap_permit(Arc::clone(&self.answers).acquire_many_owned(kib_permits(bytes)).await)
    }
}

/// Returns the number of permits for a response, in KiB.
fn kib_permits(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10).min(ANSWERS)).expect("it is at most that")
}

/// Unwraps an acquired permit.
pub(super) fn unwrap_permit(permit: Result<OwnedSemaphorePermit, tokio::sync::AcquireError>) -> OwnedSemaphorePermit {
    permit.expect("none of the semaphores is ever closed")
}
