//! Concurrent appends of one process share one write and one sync.

use std::collections::{HashMap, VecDeque};
#[cfg(not(test))]
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use memory_core::instance::InstanceError;
use memory_core::text::format_error_chain;
use memory_core::{Code, StoreError};
// The locks of `shuttle` let the tests run the threads in different orders.
#[cfg(test)]
use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of bytes in a batch of several appends. A longer append is a batch of its own.
const MAX_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// The queues of all sessions with pending appends.
#[derive(Debug, Default)]
pub(super) struct AppendQueues {
    queues: Mutex<HashMap<String, Arc<AppendQueue>>>,
}

/// A function that removes the next batch from a queue and returns it.
pub(super) type TakeBatch<'a> = &'a mut dyn FnMut() -> Vec<u8>;

impl AppendQueues {
    /// Returns once `bytes` are written to the end of `path`.
    ///
    /// One of the concurrent callers becomes the leader: its `write` takes the batch, which contains the appends of the
    /// others, and writes it. The leader gets the result of `write`, and the others get `None`.
    pub(super) fn append<T>(
        &self,
        path: &str,
        bytes: Vec<u8>,
        write: impl FnOnce(TakeBatch<'_>) -> Result<T, InstanceError>,
    ) -> Result<Option<T>, InstanceError> {
        let queue = Arc::clone(self.lock().entry(path.to_owned()).or_default());
        let written = queue.append(bytes, path, write);
        let mut queues = self.lock();
        // Only the map and this call hold the queue, and the map is locked, so no other call can obtain it.
        if Arc::strong_count(&queue) == 2 {
            queues.remove(path);
        }
        // The next caller counts the references, so this one is released while the map is locked.
        drop(queue);
        written
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<AppendQueue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pending appends of one session, in order of arrival.
#[derive(Debug, Default)]
struct AppendQueue {
    state: Mutex<AppendQueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct AppendQueueState {
    waiting: VecDeque<Vec<u8>>,
    /// The sequence number of the first append in `waiting`.
    first: u64,
    /// All appends with a smaller sequence number were written or have failed.
    done: u64,
    /// Whether a leader is writing.
    is_led: bool,
    /// The failures that were not yet returned to the callers, by sequence number.
    failed: HashMap<u64, AppendFailure>,
}

/// The failure of a leader, for the other appends of its batch.
#[derive(Debug, Clone)]
struct AppendFailure {
    code: Code,
    why: String,
}

impl AppendQueue {
    fn append<T>(
        &self,
        bytes: Vec<u8>,
        path: &str,
        write: impl FnOnce(TakeBatch<'_>) -> Result<T, InstanceError>,
    ) -> Result<Option<T>, InstanceError> {
        let mut state = self.lock();
        let own = state.first + state.waiting.len() as u64;
        state.waiting.push_back(bytes);
        // The first append in the queue becomes the leader as soon as there is no other one.
        while state.is_led || state.first < own {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            if own < state.done {
                return match state.failed.remove(&own) {
                    Some(failure) => Err(failure.into_error(path)),
                    None => Ok(None),
                };
            }
        }
        state.is_led = true;
        drop(state);
        let broken = AppendFailure {
            code: Code::Internal,
            why: "the writing thread panicked".into(),
        };
        let mut lead = GroupCommitLeader {
            queue: self,
            own,
            failure: Some(broken),
        };
        let written = write(&mut || self.take_batch());
        lead.failure = written.as_ref().err().map(|error| AppendFailure {
            code: error.code(),
            why: format_error_chain(error),
        });
        drop(lead);
        written.map(Some)
    }

    /// Removes the next batch: at least one append, and more up to [`MAX_BATCH_BYTES`] bytes.
    fn take_batch(&self) -> Vec<u8> {
        let mut state = self.lock();
        let mut batch = state.waiting.pop_front().unwrap_or_default();
        state.first += 1;
        while state
            .waiting
            .front()
            .is_some_and(|next| batch.len() + next.len() <= MAX_BATCH_BYTES)
        {
            batch.extend(state.waiting.pop_front().unwrap_or_default());
            state.first += 1;
        }
        batch
    }

    fn lock(&self) -> MutexGuard<'_, AppendQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A leader. Dropping it reports the result to the other appends of the batch.
struct GroupCommitLeader<'a> {
    queue: &'a AppendQueue,
    /// The sequence number of the leader's append.
    own: u64,
    /// Why the write failed, if it did.
    failure: Option<AppendFailure>,
}

impl Drop for GroupCommitLeader<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        if state.first == self.own {
            // The write failed before it removed a batch; it would fail in the same way for all waiting appends.
            state.first += state.waiting.len() as u64;
            state.waiting.clear();
        }
        if let Some(failure) = self.failure.take() {
            let others = self.own + 1..state.first;
            state
                .failed
                .extend(others.map(|other| (other, failure.clone())));
        }
        state.done = state.first;
        state.is_led = false;
        self.queue.changed.notify_all();
    }
}

impl AppendFailure {
    fn into_error(self, path: &str) -> InstanceError {
        StoreError::Backend {
            action: format!("append to {path}"),
            code: self.code,
            source: self.why.into(),
        }
        .into()
    }
}

#[cfg(test)]
mod tests;
