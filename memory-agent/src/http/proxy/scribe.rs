//! Keeping what was said, beside the talk.

mod trouble;
mod writer;

use std::fmt;
#[cfg(not(test))]
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use chrono::{DateTime, Utc};
use memory_core::conversation::{ConversationId, Conversations, JobQueue};
use memory_core::{Clock, ToolError};
// In tests every lock and message is a place where another thread may have its turn.
#[cfg(test)]
use shuttle::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

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
    /// Returns what keeps those who work beside the talk from what they are there for, if something does.
    fn ails(&self) -> Option<String>;
}

/// Keeps what was said, on a thread of its own, so that no answer waits for the disk.
pub(super) struct Scribe {
    work: Mutex<Option<(Sender<Heard>, JoinHandle<usize>)>>,
    clock: Arc<dyn Clock>,
    troubles: Arc<Mutex<Troubles>>,
}

/// What was said, and when.
type Heard = (DateTime<Utc>, Said);

impl Scribe {
    pub(super) fn begin(conversations: Conversations, queue: Arc<dyn JobQueue>, told: Arc<dyn Told>) -> Self {
        let (sender, receiver) = channel();
        let (troubles, clock) = (Arc::<Mutex<Troubles>>::default(), Arc::clone(&conversations.clock));
        let own = Arc::clone(&troubles);
        let thread = thread::spawn(move || Writer::new(&conversations, queue.as_ref(), told.as_ref(), &own).write_all(&receiver));
        Self { work: Mutex::new(Some((sender, thread))), clock, troubles }
    }

    /// Returns why what was said in a conversation could not be kept so far, or nothing be made of it, if so.
    pub(super) fn trouble(&self, conversation: &ConversationId) -> Option<ToolError> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).of(conversation)
    }

    /// Has something kept soon, and behind all that was said before; waits for nothing. After the end nothing is kept.
    pub(super) fn keep(&self, said: Said) {
        let now = self.clock.now();
        if let Some((sender, _)) = &*self.work.lock().unwrap_or_else(PoisonError::into_inner) {
            // Whoever writes ends only when this does.
            let _ = sender.send((now, said));
        }
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
