//! Stores the turns of conversations on a background thread.
//!
//! The user message is queued before the model is called, so that no later failure loses it; the answer is queued
//! when it is complete. Turns that arrive together share one round of syncs. A sync of the disk takes longer than
//! the rest of a request, so a request does not wait for it while the writer keeps up, and a kill may lose turns
//! of the last milliseconds. If turns take longer than 75 ms from the queue to the disk, the end of a response
//! waits until its turns are written, at most for the time limit of memory. So a kill loses turns of at most the
//! last quarter of a second, also on a busy machine, unless a fast disk stalls for longer between two writes, or
//! for longer than the time limit.
//!
//! A question that is sent again before its answer, or on the way to it, counts once. An answer is the final text
//! that the model sends to that question. An entry is created when it is sent, and its job follows from the turn,
//! so a failed step is repeated and stored once.

mod backlog;
mod writer;

use std::fmt;
use std::time::Duration;
#[cfg(not(test))]
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use chrono::{DateTime, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, Conversations, EntryRole, JobQueue, new_turn as turn,
};
use memory_core::{Clock, ToolError};
// Under test, shuttle's types are used, so that each lock and message is a scheduling point.
#[cfg(test)]
use shuttle::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use self::backlog::Backlog;
pub(super) use self::backlog::PendingWrite;
use self::writer::{UnresolvedErrors, WriterThread};

/// A message to the writer: a turn of a conversation, or the end of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueuedTurn {
    pub conversation: ConversationId,
    pub what: TurnEvent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TurnEvent {
    /// The user sends a message, or continues an exchange with it.
    Asked {
        question: Arc<str>,
        is_under_way: bool,
    },
    /// The model has responded completely, to the query if there was one.
    Answered {
        question: Option<Arc<str>>,
        answer: String,
    },
    /// The exchange ended without a complete response.
    Unanswered,
}

/// Receives notifications of the background writer.
pub trait ProxyObserver: Send + Sync {
    /// Called after turns of a conversation were stored and its exchange is over.
    fn turns_stored(&self, conversation: &ConversationId);
    /// Called when an operation failed; the same problem is reported once, until another one occurs.
    fn report_failure(&self, what: &str);
    /// Returns why background extraction is failing, if it is; each reason once.
    fn extraction_failure(&self) -> Option<String>;
}

/// Writes turns on a background thread.
///
/// No response waits for the disk while the thread keeps up.
pub(super) struct TurnWriter {
    work: Mutex<Option<(Sender<TimedMessage>, JoinHandle<usize>)>>,
    clock: Arc<dyn Clock>,
    troubles: Arc<Mutex<UnresolvedErrors>>,
    backlog: Arc<Backlog>,
}

/// A message to the writer, with its time.
type TimedMessage = (DateTime<Utc>, QueuedTurn);

impl TurnWriter {
    pub(super) fn start(
        conversations: Conversations,
        queue: Arc<dyn JobQueue>,
        told: Arc<dyn ProxyObserver>,
    ) -> Self {
        let (sender, receiver) = channel();
        let (troubles, clock) = (
            Arc::<Mutex<UnresolvedErrors>>::default(),
            Arc::clone(&conversations.clock),
        );
        let backlog = Arc::<Backlog>::default();
        let own = (Arc::clone(&troubles), Arc::clone(&backlog));
        let thread = thread::spawn(move || {
            let (troubles, backlog) = &own;
            WriterThread::new(&conversations, queue.as_ref(), told.as_ref(), troubles)
                .write_all(&receiver, backlog)
        });
        Self {
            work: Mutex::new(Some((sender, thread))),
            clock,
            troubles,
            backlog,
        }
    }

    /// Returns why turns of a conversation could not be stored or queued for extraction so far, if so.
    pub(super) fn storage_error(&self, conversation: &ConversationId) -> Option<ToolError> {
        self.troubles
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .of(conversation)
    }

    /// Queues a message for the writer, in order and without waiting. After [`TurnWriter::end`] it is dropped.
    pub(super) fn enqueue(&self, said: QueuedTurn) {
        let now = self.clock.now();
        if let Some((sender, _)) = &*self.work.lock().unwrap_or_else(PoisonError::into_inner) {
            self.backlog.add(now, said.clone());
            if sender.send((now, said)).is_err() {
                // The writer panicked; no response must wait for it.
                self.backlog.clear();
            }
        }
    }

    /// Returns the turns of a conversation that are not yet written, oldest first.
    ///
    /// They have the form in which they will be written.
    pub(super) fn unwritten_turns(
        &self,
        conversations: &Conversations,
        conversation: &ConversationId,
    ) -> Vec<ConversationEntry> {
        let entry = |(at, said): (DateTime<Utc>, QueuedTurn)| {
            let (role, text) = match &said.what {
                TurnEvent::Asked { question, .. } => (EntryRole::User, question.as_ref()),
                TurnEvent::Answered { answer, .. } => (EntryRole::Assistant, answer.as_str()),
                TurnEvent::Unanswered => return None,
            };
            turn(conversations, conversation, role, text, at)
        };
        self.backlog
            .unwritten(conversation)
            .into_iter()
            .filter_map(entry)
            .collect()
    }

    /// Returns the write that a response which ends now has to wait for, if the writer is behind.
    ///
    /// The wait takes at most `limit`.
    pub(super) fn pending_write(&self, limit: Duration) -> Option<PendingWrite> {
        self.backlog.pending_write(self.clock.now(), limit)
    }

    /// Calls `then` once all messages so far are written or their write failed. After [`TurnWriter::stop`] it is dropped.
    pub(super) fn after_writes(&self, then: impl FnOnce() + Send + 'static) {
        let is_running = {
            let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            work.is_some()
        };
        if is_running {
            self.backlog.after_writes(Box::new(then));
        }
    }

    /// Writes all queued messages and stops. Returns the number of turns that could not be written.
    pub(super) fn stop(&self) -> usize {
        let work = self
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some((sender, thread)) = work else {
            return 0;
        };
        drop(sender);
        // A panic of the thread was already reported by the panic hook.
        thread.join().unwrap_or_default()
    }
}

impl fmt::Debug for TurnWriter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Scribe")
    }
}

#[cfg(test)]
mod tests;
