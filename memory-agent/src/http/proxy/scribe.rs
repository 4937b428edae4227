//! Keeping what was said, beside the talk.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory_core::conversation::{
    ConversationId, Conversations, Entry, EntryRole, JobQueue, Questions, Turn, enqueue, keep_turns,
};
use memory_core::text::with_causes;
use memory_core::{Code, StoreError, ToolError};

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
        let next = if waiting.is_empty() {
            receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            receiver.recv_timeout(AGAIN)
        };
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
mod tests {
    use std::sync::mpsc::SyncSender;

    use memory_core::conversation::{ConversationStore, EntryChange, EntryId, EntryVector, Shelf};
    use memory_core::testing::{FakeConversations, FakeJobs, conversations};

    use super::*;

    /// Holds up whoever keeps something until the test goes on.
    struct Slow(SyncSender<()>);

    impl Told for Slow {
        fn kept(&self, _: &ConversationId) {
            // The test may be over.
            let _ = self.0.send(());
        }

        fn trouble(&self, what: &str) {
            panic!("{what}");
        }

        fn ails(&self) -> Option<String> {
            None
        }
    }

    #[test]
    fn what_is_said_meanwhile_is_kept_in_its_order_and_a_job_for_each_message() {
        let conversations = conversations(Arc::new(FakeConversations::default()));
        let jobs = Arc::new(FakeJobs::default());
        let (tell, kept) = std::sync::mpsc::sync_channel(0);
        let scribe = Scribe::begin(conversations.clone(), Arc::clone(&jobs) as _, Arc::new(Slow(tell)));
        let place = ConversationId::unnamed();
        let say = |number: usize| {
            let turn = |role, who: &str| Turn { role, text: format!("{who} {number}"), is_under_way: false };
            let turns = vec![turn(EntryRole::User, "user"), turn(EntryRole::Assistant, "model")];
            scribe.keep(Said { conversation: place.clone(), turns, is_over: true });
        };
        say(0);
        (1..4).for_each(say);
        drop(kept);
        scribe.end();
        let entries = conversations.store.read(&place).unwrap().entries();
        let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
        let at = |who: &str, number: usize| texts.iter().position(|text| *text == format!("{who} {number}"));
        assert_eq!(texts.len(), 8);
        assert!((0..4).all(|number| at("user", number) < at("model", number)), "{texts:?}");
        assert_eq!(jobs.pending().unwrap().len(), 4);
    }

    /// Has no room for anything.
    #[derive(Debug)]
    struct Full(FakeConversations);

    impl ConversationStore for Full {
        fn place(&self) -> String {
            self.0.place()
        }

        fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
            self.0.conversations()
        }

        fn read(&self, conversation: &ConversationId) -> Result<Arc<Shelf>, StoreError> {
            self.0.read(conversation)
        }

        fn look_again(&self, conversation: &ConversationId, ids: &[EntryId]) -> Result<bool, StoreError> {
            self.0.look_again(conversation, ids)
        }

        fn deleted(&self, conversation: &ConversationId) -> Result<Vec<Entry>, StoreError> {
            self.0.deleted(conversation)
        }

        fn commit(&self, _: &ConversationId, _: &[EntryChange]) -> Result<(), StoreError> {
            Err(StoreError::Outside { path: "entries".into() })
        }

        fn keep_vectors(&self, conversation: &ConversationId, model: &str, vectors: &[EntryVector]) -> Result<(), StoreError> {
            self.0.keep_vectors(conversation, model, vectors)
        }
    }

    /// Writes down what it is told.
    struct Heard(Mutex<Vec<String>>);

    impl Told for Heard {
        fn kept(&self, _: &ConversationId) {}

        fn trouble(&self, what: &str) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
        }

        fn ails(&self) -> Option<String> {
            None
        }
    }

    #[test]
    fn what_cannot_be_kept_is_told_to_whoever_asks_next_and_counted_at_the_end() {
        let store = Arc::new(Full(FakeConversations::default()));
        let heard = Arc::new(Heard(Mutex::default()));
        let scribe = Scribe::begin(conversations(store), Arc::new(FakeJobs::default()), Arc::clone(&heard) as _);
        let turn = |role, text: &str| Turn { role, text: text.to_owned(), is_under_way: false };
        let turns = vec![turn(EntryRole::User, "tea"), turn(EntryRole::Assistant, "noted")];
        scribe.keep(Said { conversation: ConversationId::unnamed(), turns, is_over: true });
        assert_eq!(scribe.end(), 2);
        assert!(scribe.trouble().is_some_and(|trouble| trouble.message.starts_with(NOT_KEPT)));
        let told = heard.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(told.len(), 1, "each thing is told once: {told:?}");
    }
}
