//! Keeping what was said, beside the talk.

mod backlog;
mod trouble;
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
use memory_core::conversation::{ConversationId, Conversations, Entry, EntryRole, JobQueue, said as turn};
use memory_core::{Clock, ToolError};
// In tests every lock and message is a place where another thread may have its turn.
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
use self::trouble::Troubles;
use self::writer::Writer;

/// Something that was said, or that an exchange is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub conversation: ConversationId,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A person asks the model, which may be under way to an answer.
    Asked { question: Arc<str>, is_under_way: bool },
    /// The model answered the question to the end, if there was one. This is what it said.
    Answered { question: Option<Arc<str>>, answer: String },
    /// Nobody answered to the end.
    Unanswered,
}

/// Who is told of what happens.
pub trait Told: Send + Sync {
    /// Something was kept of a conversation, and what it is about is over for now.
    fn kept(&self, conversation: &ConversationId);
    /// Something went wrong. Each thing is told once, until it is another.
    fn trouble(&self, what: &str);
    /// Returns why background extraction is failing, if it is; each reason once.
    fn ails(&self) -> Option<String>;
}

/// Writes turns on a thread of its own, so that no answer waits for the disk while the thread keeps up.
pub(super) struct Scribe {
    work: Mutex<Option<(Sender<Heard>, JoinHandle<usize>)>>,
    clock: Arc<dyn Clock>,
    troubles: Arc<Mutex<Troubles>>,
    backlog: Arc<Backlog>,
}

/// What was said, and when.
type Heard = (DateTime<Utc>, Said);

impl Scribe {
    pub(super) fn begin(conversations: Conversations, queue: Arc<dyn JobQueue>, told: Arc<dyn Told>) -> Self {
        let (sender, receiver) = channel();
        let (troubles, clock) = (Arc::<Mutex<Troubles>>::default(), Arc::clone(&conversations.clock));
        let backlog = Arc::<Backlog>::default();
        let own = (Arc::clone(&troubles), Arc::clone(&backlog));
        let thread = thread::spawn(move || {
            let (troubles, backlog) = &own;
            Writer::new(&conversations, queue.as_ref(), told.as_ref(), troubles).write_all(&receiver, backlog)
        });
        Self { work: Mutex::new(Some((sender, thread))), clock, troubles, backlog }
    }

    /// Returns why what was said in a conversation could not be kept so far, or nothing be made of it, if so.
    pub(super) fn trouble(&self, conversation: &ConversationId) -> Option<ToolError> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).of(conversation)
    }

    /// Has something kept soon, and behind all that was said before; waits for nothing. After the end nothing is kept.
    pub(super) fn keep(&self, said: Said) {
        let now = self.clock.now();
        if let Some((sender, _)) = &*self.work.lock().unwrap_or_else(PoisonError::into_inner) {
            self.backlog.add(now, said.clone());
            if sender.send((now, said)).is_err() {
                // The writer panicked; nobody must wait for it.
                self.backlog.clear();
            }
        }
    }

    /// Returns the turns of a conversation that are not yet written, oldest first, as they will be.
    pub(super) fn unwritten(&self, conversations: &Conversations, conversation: &ConversationId) -> Vec<Entry> {
        let entry = |(at, said): (DateTime<Utc>, Said)| {
            let (role, text) = match &said.what {
                What::Asked { question, .. } => (EntryRole::User, question.as_ref()),
                What::Answered { answer, .. } => (EntryRole::Assistant, answer.as_str()),
                What::Unanswered => return None,
            };
            turn(conversations, conversation, role, text, at)
        };
        self.backlog.unwritten(conversation).into_iter().filter_map(entry).collect()
    }

    /// Returns what an answer that ends now has to wait for, for at most `limit`, if the writer is behind.
    pub(super) fn pending_write(&self, limit: Duration) -> Option<PendingWrite> {
        self.backlog.pending_write(self.clock.now(), limit)
    }

    /// Waits until all is kept, and keeps nothing more. Returns how many turns are lost, because they could not be kept.
    pub(super) fn end(&self) -> usize {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((sender, thread)) = work else { return 0 };
        drop(sender);
        // A thread that panicked has told why.
        thread.join().unwrap_or_default()
    }
}

impl fmt::Debug for Scribe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Scribe")
    }
}

#[cfg(test)]
mod tests;
