//! The queue of unwritten turns, and the responses that wait for them.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::conversation::ConversationId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Mutex, MutexGuard, PoisonError, QueuedTurn};

/// The writer is behind once a turn takes this long from the queue to the disk.
///
/// A response that ends while the writer keeps up does not wait, so a kill may lose its turn. Such a turn must be
/// written within 250 ms. It may take two writes, the one in progress and its own, each of which may take somewhat
/// longer than the previous ones.
const MAX_DELAY: TimeDelta = TimeDelta::milliseconds(75);

/// The messages to the writer that are not yet written, oldest first.
///
/// A message with a failed write is reported and removed.
#[derive(Default)]
pub(super) struct Backlog(Mutex<BacklogState>);

#[derive(Default)]
struct BacklogState {
    /// The messages, with the time at which each was queued.
    queued: VecDeque<(DateTime<Utc>, QueuedTurn)>,
    /// Number of messages that left the queue since the start.
    written: u64,
    /// The delay of recent writes, see [`recent_delay`].
    delay: TimeDelta,
    /// What happens once this number of messages is written.
    waiting: Vec<(u64, Box<dyn FnOnce() + Send>)>,
}

/// The end of a response that has to wait until its turns are written.
#[derive(Debug)]
pub(in super::super) struct PendingWrite {
    written: oneshot::Receiver<()>,
    limit: Duration,
}

impl PendingWrite {
    /// Waits until the turns are written or their write failed, or until the time limit is over.
    pub(in super::super) async fn wait(self) {
        // A writer that has stopped drops the sender, which also ends the wait.
        let _ = timeout(self.limit, self.written).await;
    }

    /// Returns whether the wait is over, ignoring the time limit.
    #[cfg(test)]
    pub(super) fn is_over(&mut self) -> bool {
        self.written.try_recv().is_ok()
    }
}

impl Backlog {
    /// Adds a message that is about to be sent to the writer.
    pub(super) fn add(&self, now: DateTime<Utc>, said: QueuedTurn) {
        self.lock().queued.push_back((now, said));
    }

    /// Returns the unwritten messages of a conversation with their queue times, oldest first.
    pub(super) fn unwritten(
        &self,
        conversation: &ConversationId,
    ) -> Vec<(DateTime<Utc>, QueuedTurn)> {
        self.lock()
            .queued
            .iter()
            .filter(|(_, said)| said.conversation == *conversation)
            .cloned()
            .collect()
    }

    /// Removes the oldest `count` messages, which were written, and calls what waits for them.
    pub(super) fn remove(&self, count: usize, now: DateTime<Utc>) {
        let mut state = self.lock();
        state.delay = recent_delay(state.delay, state.oldest_age(now));
        let count = count.min(state.queued.len());
        state.queued.drain(..count);
        state.written += count as u64;
        let written = state.written;
        let due = state.waiting.extract_if(.., |(until, _)| *until <= written);
        let due: Vec<_> = due.collect();
        drop(state);
        for (_, call) in due {
            call();
        }
    }

    /// Calls `then` once all present messages are written or their write failed; drops it if the writer stops before.
    pub(super) fn after_writes(&self, then: Box<dyn FnOnce() + Send>) {
        let mut state = self.lock();
        if state.queued.is_empty() {
            drop(state);
            then();
        } else {
            state.wait(then);
        }
    }

    /// Removes all messages, since the writer has stopped.
    pub(super) fn clear(&self) {
        *self.lock() = BacklogState::default();
    }

    /// Returns the write that a response which ends now has to wait for, if the writer is behind.
    pub(super) fn pending_write(
        &self,
        now: DateTime<Utc>,
        limit: Duration,
    ) -> Option<PendingWrite> {
        let mut state = self.lock();
        if state.queued.is_empty() || !is_behind(state.oldest_age(now), state.delay) {
            return None;
        }
        let (sender, written) = oneshot::channel();
        state.wait(Box::new(move || {
            // The client may have disconnected.
            let _ = sender.send(());
        }));
        Some(PendingWrite { written, limit })
    }

    fn lock(&self) -> MutexGuard<'_, BacklogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BacklogState {
    /// Calls `then` once all present messages are written.
    fn wait(&mut self, then: Box<dyn FnOnce() + Send>) {
        let until = self.written + self.queued.len() as u64;
        self.waiting.push((until, then));
    }

    fn oldest_age(&self, now: DateTime<Utc>) -> TimeDelta {
        self.queued
            .front()
            .map_or(TimeDelta::zero(), |(queued, _)| now - *queued)
    }
}

/// Returns whether the writer is behind.
///
/// This depends on the age of the oldest queued message and on the delay of recent writes. Recent writes count because
/// a turn that is queued just after the start of a slow write is not old, but waits for two slow writes.
fn is_behind(oldest: TimeDelta, recent: TimeDelta) -> bool {
    MAX_DELAY <= oldest.max(recent)
}

/// Returns the delay of recent writes, after one with an oldest message of the given `age`.
///
/// The weight of a slow write halves with each write after it. Without this, one fast write (fast because all responses
/// waited) would release all responses at once, which would make the next write slow.
fn recent_delay(former: TimeDelta, age: TimeDelta) -> TimeDelta {
    age.max(former / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_behind_once_a_turn_takes_as_long_as_the_bound() {
        let (keeps_up, none) = (MAX_DELAY - TimeDelta::milliseconds(1), TimeDelta::zero());
        for (oldest, recent, expected) in [
            (none, none, false),
            (keeps_up, keeps_up, false),
            (MAX_DELAY, none, true),
            (none, MAX_DELAY, true),
            // The clock was set back.
            (TimeDelta::seconds(-5), none, false),
        ] {
            assert_eq!(is_behind(oldest, recent), expected, "{oldest} {recent}");
        }
    }

    #[test]
    fn a_slow_write_counts_for_some_writes_that_follow() {
        let (mut delay, fast) = (
            recent_delay(TimeDelta::zero(), MAX_DELAY * 5),
            TimeDelta::milliseconds(1),
        );
        let mut writes = 0;
        while is_behind(fast, delay) {
            delay = recent_delay(delay, fast);
            writes += 1;
        }
        assert_eq!(writes, 3);
    }
}
