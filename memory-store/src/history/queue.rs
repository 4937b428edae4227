//! Appends of one process that come at the same time share one write and one sync.

use std::collections::{HashMap, VecDeque};
#[cfg(not(test))]
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use memory_core::instance::InstanceError;
use memory_core::text::with_causes;
use memory_core::{Code, StoreError};
// In tests every lock is a place where another thread may have its turn.
#[cfg(test)]
use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many bytes are written at once; the rest waits for the next time.
const BATCH: usize = 8 * 1024 * 1024;

/// The queues of all sessions to which something is being appended.
#[derive(Debug, Default)]
pub(super) struct Queues {
    queues: Mutex<HashMap<String, Arc<Queue>>>,
}

/// Takes out of a queue what is to be written now.
pub(super) type Take<'a> = &'a mut dyn FnMut() -> Vec<u8>;

impl Queues {
    /// Returns once `bytes` were written to the end of `path`: by `write`, which is asked to take what waits and write it, together with
    /// what others append; or by one of these. Then there is no answer.
    pub(super) fn append<T>(
        &self,
        path: &str,
        bytes: Vec<u8>,
        write: impl FnOnce(Take<'_>) -> Result<T, InstanceError>,
    ) -> Result<Option<T>, InstanceError> {
        let queue = Arc::clone(self.lock().entry(path.to_owned()).or_default());
        let written = queue.append(bytes, path, write);
        let mut queues = self.lock();
        // Nobody else has it, and nobody can get it in the meantime.
        if Arc::strong_count(&queue) == 2 {
            queues.remove(path);
        }
        // Whoever comes next must not count it.
        drop(queue);
        written
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Queue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What waits to be appended to one session, in the order in which it came.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    /// Which append stands first in `waiting`, of all that there were.
    first: u64,
    /// Up to which all were written, or have failed.
    done: u64,
    /// Whether somebody writes.
    is_led: bool,
    /// Why some were not written who do not know it yet.
    failed: HashMap<u64, Failure>,
}

/// Why somebody else could not write.
#[derive(Debug, Clone)]
struct Failure {
    code: Code,
    why: String,
}

impl Queue {
    fn append<T>(
        &self,
        bytes: Vec<u8>,
        path: &str,
        write: impl FnOnce(Take<'_>) -> Result<T, InstanceError>,
    ) -> Result<Option<T>, InstanceError> {
        let mut state = self.lock();
        let own = state.first + state.waiting.len() as u64;
        state.waiting.push_back(bytes);
        // Whoever stands first writes, as soon as nobody else does.
        while state.is_led || state.first < own {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            if own < state.done {
                return match state.failed.remove(&own) {
                    Some(failure) => Err(failure.error(path)),
                    None => Ok(None),
                };
            }
        }
        state.is_led = true;
        drop(state);
        let broken = Failure { code: Code::Internal, why: "whoever wrote it broke down".into() };
        let mut lead = Lead { queue: self, own, failure: Some(broken) };
        let written = write(&mut || self.take());
        lead.failure = written.as_ref().err().map(|error| Failure { code: error.code(), why: with_causes(error) });
        drop(lead);
        written.map(Some)
    }

    /// Takes out what stands first, as much as is written at once.
    fn take(&self) -> Vec<u8> {
        let mut state = self.lock();
        let mut batch = state.waiting.pop_front().unwrap_or_default();
        state.first += 1;
        while state.waiting.front().is_some_and(|next| batch.len() + next.len() <= BATCH) {
            batch.extend(state.waiting.pop_front().unwrap_or_default());
            state.first += 1;
        }
        batch
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who writes for others; when it is over, these hear of it.
struct Lead<'a> {
    queue: &'a Queue,
    /// The append of whoever writes.
    own: u64,
    /// Why it failed, unless it did not.
    failure: Option<Failure>,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        if state.first == self.own {
            // It failed before anything was taken, as it would for those who wait.
            state.first += state.waiting.len() as u64;
            state.waiting.clear();
        }
        if let Some(failure) = self.failure.take() {
            let others = self.own + 1..state.first;
            state.failed.extend(others.map(|other| (other, failure.clone())));
        }
        state.done = state.first;
        state.is_led = false;
        self.queue.changed.notify_all();
    }
}

impl Failure {
    fn error(self, path: &str) -> InstanceError {
        StoreError::Backend { action: format!("add to {path}"), code: self.code, source: self.why.into() }.into()
    }
}

#[cfg(test)]
mod tests;
