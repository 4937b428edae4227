//! Keeping what was said, beside the talk.

use std::fmt;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
#[cfg(not(test))]
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use memory_core::conversation::{
    ConversationId, Conversations, Entry, EntryRole, JobQueue, Questions, Turn, enqueue, keep_turns,
};
use memory_core::text::with_causes;
use memory_core::{Code, StoreError, ToolError};
// In tests every lock and message is a place where another thread may have its turn.
#[cfg(test)]
use shuttle::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

/// What somebody said, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub conversation: ConversationId,
    pub turns: Vec<Turn>,
    /// Whether nothing more comes of it, so that whoever makes something of it may begin.
    pub is_over: bool,
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
    work: Mutex<Option<(Sender<Said>, JoinHandle<usize>)>>,
    trouble: Arc<Mutex<Trouble>>,
}

/// Why what was said last could not be kept, if it could not.
type Trouble = Option<(Code, String)>;

/// What cannot be kept is tried again after this time, and whenever something else is kept.
const AGAIN: Duration = Duration::from_secs(5);

const NOT_KEPT: &str = "what was said could not be kept";

/// More than this does not wait to be tried again.
const MOST: usize = 1000;

impl Scribe {
    pub(super) fn begin(conversations: Conversations, queue: Arc<dyn JobQueue>, told: Arc<dyn Told>) -> Self {
        let (sender, receiver) = channel();
        let trouble = Arc::<Mutex<Trouble>>::default();
        let own = Arc::clone(&trouble);
        let thread = thread::spawn(move || write(&receiver, &conversations, queue.as_ref(), (told.as_ref(), &own)));
        Self { work: Mutex::new(Some((sender, thread))), trouble }
    }

    /// Returns why what was said could not be kept so far, if it could not.
    pub(super) fn trouble(&self) -> Option<ToolError> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        trouble.map(|(code, message)| ToolError::new(code, message, None))
    }

    /// Has something kept soon, and behind all that was said before; waits for nothing. After the end nothing is kept.
    pub(super) fn keep(&self, said: Said) {
        if let Some((sender, _)) = &*self.work.lock().unwrap_or_else(PoisonError::into_inner) {
            // Whoever writes ends only when this does.
            let _ = sender.send(said);
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

/// What is about to be kept of one conversation.
#[derive(Debug)]
struct Waiting {
    conversation: ConversationId,
    turns: Vec<(EntryRole, String)>,
    is_over: bool,
}

fn write(
    receiver: &Receiver<Said>,
    conversations: &Conversations,
    queue: &dyn JobQueue,
    (told, trouble): (&dyn Told, &Mutex<Trouble>),
) -> usize {
    let mut waiting: Vec<Waiting> = Vec::new();
    let (mut troubles, mut questions) = (Troubles::default(), Questions::default());
    loop {
        let next = next(receiver, !waiting.is_empty());
        let has_ended = matches!(next, Err(RecvTimeoutError::Disconnected));
        for said in next.into_iter().chain(receiver.try_iter()) {
            take(&mut waiting, news(said, conversations, &mut questions));
        }
        let mut left = Vec::new();
        let mut refusal = None;
        for said in waiting {
            match keep_turns(conversations, &said.conversation, &said.turns) {
                Ok(kept) => {
                    troubles.over(told, take_up(conversations, queue, &kept));
                    if said.is_over {
                        told.kept(&said.conversation);
                    }
                }
                Err(error) => {
                    troubles.tell(told, NOT_KEPT, &error);
                    refusal = Some((error.code(), format!("{NOT_KEPT}: {error}")));
                    left.push(said);
                }
            }
        }
        *trouble.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
        left.truncate(MOST);
        waiting = left;
        if has_ended {
            return waiting.iter().map(|said| said.turns.len()).sum();
        }
    }
}

/// Waits for what is said next; where something is to be tried again, no longer than until then.
fn next(receiver: &Receiver<Said>, tries_again: bool) -> Result<Said, RecvTimeoutError> {
    // In tests time does not pass.
    if tries_again && cfg!(not(test)) {
        receiver.recv_timeout(AGAIN)
    } else {
        receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }
}

/// Leaves out what was kept before.
fn news(mut said: Said, conversations: &Conversations, questions: &mut Questions) -> Said {
    said.turns.retain(|turn| questions.is_news(conversations, &said.conversation, turn));
    said
}

/// Puts something to what waits, so that what belongs to one conversation is kept in one go.
fn take(waiting: &mut Vec<Waiting>, said: Said) {
    let Said { conversation, turns, is_over } = said;
    let turns = turns.into_iter().map(|turn| (turn.role, turn.text));
    match waiting.iter_mut().find(|own| own.conversation == conversation) {
        Some(own) => {
            own.turns.extend(turns);
            own.is_over |= is_over;
        }
        None => waiting.push(Waiting { conversation, turns: turns.collect(), is_over }),
    }
}

/// Sees to it that facts are drawn from what the person said.
fn take_up(conversations: &Conversations, queue: &dyn JobQueue, kept: &[Entry]) -> Result<(), StoreError> {
    let mut said = kept.iter().filter(|entry| entry.role == EntryRole::User);
    said.try_for_each(|turn| enqueue(conversations, queue, turn))
}

/// What went wrong last.
#[derive(Debug, Default)]
struct Troubles {
    last: String,
}

impl Troubles {
    fn over(&mut self, told: &dyn Told, done: Result<(), StoreError>) {
        match done {
            Ok(()) => self.last.clear(),
            Err(error) => self.tell(told, "no facts can be drawn from what was said", &error),
        }
    }

    fn tell(&mut self, told: &dyn Told, what: &str, error: &StoreError) {
        let trouble = format!("{what}: {}", with_causes(error));
        if trouble != self.last {
            told.trouble(&trouble);
            self.last = trouble;
        }
    }
}

#[cfg(test)]
mod tests;
