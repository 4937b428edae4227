//! Appends of one process that come at the same time share one write and one sync.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use memory_core::instance::InstanceError;
use memory_core::text::with_causes;
use memory_core::{Code, StoreError};

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
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    const APPENDERS: usize = 8;

    /// Appends once on each thread, where the first one writes when all others wait; returns what was written, each time, and how each
    /// fared.
    fn append_at_once(
        write: impl Fn(usize, Vec<u8>) -> Result<(), InstanceError> + Sync,
    ) -> Vec<Result<Option<()>, InstanceError>> {
        let (queues, times) = (Queues::default(), AtomicUsize::new(0));
        let append = |number: usize| {
            let bytes = format!("{number}\n").into_bytes();
            queues.append("s.jsonl", bytes, |take| {
                let time = times.fetch_add(1, Ordering::SeqCst);
                let queue = Arc::clone(&queues.lock()["s.jsonl"]);
                let batch = take();
                let taken = batch.len() / "0\n".len();
                while time == 0 && taken + queue.lock().waiting.len() < APPENDERS {
                    thread::yield_now();
                }
                write(time, batch)
            })
        };
        let done = thread::scope(|scope| {
            let appenders: Vec<_> = (0..APPENDERS).map(|number| scope.spawn(move || append(number))).collect();
            appenders.into_iter().map(|appender| appender.join().unwrap()).collect()
        });
        assert!(queues.lock().is_empty(), "a queue in which nothing waits is not kept");
        done
    }

    #[test]
    fn who_comes_while_another_writes_shares_the_next_write() {
        let written = Mutex::new(Vec::new());
        let done = append_at_once(|_, batch| {
            written.lock().unwrap().push(batch);
            Ok(())
        });
        assert!(done.iter().all(Result::is_ok));
        let written = written.into_inner().unwrap();
        assert!(written.len() <= 2, "all who waited were written at once: {written:?}");
        let mut lines: Vec<usize> =
            String::from_utf8(written.concat()).unwrap().lines().map(|line| line.parse().unwrap()).collect();
        lines.sort_unstable();
        assert_eq!(lines, (0..APPENDERS).collect::<Vec<usize>>());
    }

    #[test]
    fn a_failure_reaches_everybody_who_was_not_written_and_nobody_else() {
        let full =
            || -> InstanceError { StoreError::Backend { action: "x".into(), code: Code::DiskFull, source: "y".into() }.into() };
        let failed = AtomicUsize::new(0);
        let done = append_at_once(|time, batch| {
            if time == 0 {
                return Ok(());
            }
            failed.store(batch.len() / 2, Ordering::SeqCst);
            Err(full())
        });
        let errors: Vec<_> = done.into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), failed.into_inner());
        assert!(errors.iter().all(|error| error.code() == Code::DiskFull && with_causes(error).contains('y')), "{errors:?}");
    }

    #[test]
    fn who_cannot_write_at_all_fails_for_all_who_wait() {
        let queue = Queue::default();
        queue.lock().waiting.extend([b"1\n".to_vec(), b"2\n".to_vec()]);
        queue.lock().is_led = true;
        let failure = Some(Failure { code: Code::Locked, why: "another writes".into() });
        drop(Lead { queue: &queue, own: 0, failure });
        let state = queue.lock();
        assert_eq!((state.first, state.done, state.failed.len(), state.is_led), (2, 2, 1, false));
        drop(state);
        let written = queue.append(b"3\n".to_vec(), "s.jsonl", |take| Ok(take()));
        assert_eq!(written.unwrap().unwrap(), b"3\n", "the next one begins anew");
    }
}
