//! What all connections share.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::Limits;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Room {
    /// The limits.
    pub limits: Limits,
    /// One for each connection that is served.
    pub places: Arc<Semaphore>,
    /// One for each line that is worked on.
    pub workers: Arc<Semaphore>,
    /// One for each line that is longer than [`SHORT`].
    pub long_lines: Arc<Semaphore>,
    /// One for each KiB of answers that wait to be read.
    answers: Arc<Semaphore>,
}

/// Lines up to so many bytes are read without asking.
pub(super) const SHORT: usize = 64 << 10;

/// So many longer ones are read at once.
const LONG_LINES: usize = 32;

/// So many KiB of answers may wait to be read.
const ANSWERS: usize = 64 << 10;

impl Room {
    /// Returns the room that the limits leave.
    pub(super) fn new(limits: Limits) -> Self {
        let semaphore = |count: usize| Arc::new(Semaphore::new(count));
        Self {
            limits,
            places: semaphore(limits.connections),
            workers: semaphore(limits.workers),
            long_lines: semaphore(LONG_LINES),
            answers: semaphore(ANSWERS),
        }
    }

    /// Returns room for an answer of so many bytes, if there is some now.
    pub(super) fn for_answer_now(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.answers).try_acquire_many_owned(size(bytes)).ok()
    }

    /// Waits until there is room for an answer of so many bytes. One that is larger than all of it has all of it.
    pub(super) async fn for_answer(&self, bytes: usize) -> OwnedSemaphorePermit {
        taken(Arc::clone(&self.answers).acquire_many_owned(size(bytes)).await)
    }
}

/// Returns how many KiB of room an answer takes.
fn size(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10).min(ANSWERS)).expect("it is at most that")
}

/// Returns what was acquired.
pub(super) fn taken(permit: Result<OwnedSemaphorePermit, tokio::sync::AcquireError>) -> OwnedSemaphorePermit {
    permit.expect("none of the semaphores is ever closed")
}
