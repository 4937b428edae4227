//! Claims about whoever keeps what was said, in many orders in which threads may have their turns.

use std::sync::atomic::{AtomicUsize, Ordering};

use memory_core::conversation::{ConversationStore, EntryChange, EntryId, EntryVector, Shelf};
use memory_core::testing::{FakeConversations, FakeJobs, conversations, in_any_order};

use super::*;

/// How many talk at once, and how often each says something.
const SPEAKERS: usize = 2;
const TIMES: usize = 3;

/// Writes down what it is told.
#[derive(Default)]
struct Heard {
    kept: AtomicUsize,
    troubles: Mutex<Vec<String>>,
}

impl Told for Heard {
    fn kept(&self, _: &ConversationId) {
        self.kept.fetch_add(1, Ordering::SeqCst);
    }

    fn trouble(&self, what: &str) {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
    }

    fn ails(&self) -> Option<String> {
        None
    }
}

/// Has no room the first `refusals` times that something is to be kept.
#[derive(Debug)]
struct Full {
    store: FakeConversations,
    refusals: AtomicUsize,
}

impl Full {
    fn new(refusals: usize) -> Arc<Self> {
        Arc::new(Self { store: FakeConversations::default(), refusals: AtomicUsize::new(refusals) })
    }
}

impl ConversationStore for Full {
    fn place(&self) -> String {
        self.store.place()
    }

    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        self.store.conversations()
    }

    fn read(&self, conversation: &ConversationId) -> Result<Arc<Shelf>, StoreError> {
        self.store.read(conversation)
    }

    fn look_again(&self, conversation: &ConversationId, ids: &[EntryId]) -> Result<bool, StoreError> {
        self.store.look_again(conversation, ids)
    }

    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<Entry>, StoreError> {
        self.store.deleted(conversation)
    }

    fn commit(&self, conversation: &ConversationId, changes: &[EntryChange]) -> Result<(), StoreError> {
        // A disk takes its time, and others have their turn meanwhile.
        thread::yield_now();
        let refused = self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match refused {
            Ok(_) => Err(StoreError::Outside { path: "entries".into() }),
            Err(_) => self.store.commit(conversation, changes),
        }
    }

    fn keep_vectors(&self, conversation: &ConversationId, model: &str, vectors: &[EntryVector]) -> Result<(), StoreError> {
        self.store.keep_vectors(conversation, model, vectors)
    }
}

fn said(conversation: &ConversationId, texts: [String; 2]) -> Said {
    let roles = [EntryRole::User, EntryRole::Assistant];
    let turns = roles.into_iter().zip(texts).map(|(role, text)| Turn { role, text, is_under_way: false }).collect();
    Said { conversation: conversation.clone(), turns, is_over: true }
}

/// Everybody says something at once, in one conversation and to a store that refuses at first; then it ends. Returns the texts that were
/// kept, how many turns were lost, how many messages facts are to be drawn from, and what was told.
fn talk(refusals: usize) -> (Vec<String>, usize, usize, Arc<Heard>) {
    let store = conversations(Full::new(refusals));
    let (jobs, heard, place) = (Arc::new(FakeJobs::default()), Arc::<Heard>::default(), ConversationId::unnamed());
    let scribe = Arc::new(Scribe::begin(store.clone(), Arc::clone(&jobs) as _, Arc::clone(&heard) as _));
    let speak = |who: usize| {
        let (scribe, place) = (Arc::clone(&scribe), place.clone());
        thread::spawn(move || {
            for number in 0..TIMES {
                scribe.keep(said(&place, [format!("{who} asks {number}"), format!("{who} hears {number}")]));
            }
        })
    };
    let speakers: Vec<_> = (0..SPEAKERS).map(speak).collect();
    speakers.into_iter().for_each(|speaker| speaker.join().unwrap());
    let lost = scribe.end();
    scribe.keep(said(&place, ["too late".into(), "too late".into()]));
    assert_eq!(scribe.end(), 0, "nothing is kept after the end, and nothing lost twice");
    let kept = store.store.read(&place).unwrap().entries().iter().map(|entry| entry.content.clone()).collect();
    (kept, lost, jobs.pending().unwrap().len(), heard)
}

#[test]
fn what_many_say_at_once_is_kept_once_in_the_order_of_each_and_a_job_for_each_message() {
    in_any_order(|| {
        // What is refused is kept together with what is said next, or at the end.
        let (texts, lost, jobs, heard) = talk(1);
        assert_eq!((texts.len(), lost, jobs), (2 * SPEAKERS * TIMES, 0, SPEAKERS * TIMES), "{texts:?}");
        for who in 0..SPEAKERS {
            let own: Vec<_> = texts.iter().filter(|text| text.starts_with(&who.to_string())).cloned().collect();
            let all = (0..TIMES).flat_map(|number| [format!("{who} asks {number}"), format!("{who} hears {number}")]);
            assert_eq!(own, all.collect::<Vec<_>>());
        }
        assert!(heard.kept.load(Ordering::SeqCst) > 0, "who makes something of it is told");
        assert_eq!(heard.troubles.lock().unwrap().len(), 1);
    });
}

#[test]
fn what_cannot_be_kept_is_told_once_and_counted_at_the_end() {
    in_any_order(|| {
        let (texts, lost, jobs, heard) = talk(usize::MAX);
        assert_eq!((texts.len(), lost, jobs), (0, 2 * SPEAKERS * TIMES, 0), "{texts:?}");
        assert_eq!(heard.kept.load(Ordering::SeqCst), 0);
        let troubles = heard.troubles.lock().unwrap();
        assert_eq!(troubles.len(), 1, "each thing is told once: {troubles:?}");
    });
}

#[test]
fn whoever_asks_next_is_told_what_could_not_be_kept_until_it_is() {
    in_any_order(|| {
        let store = conversations(Full::new(1));
        let place = ConversationId::unnamed();
        let scribe = Scribe::begin(store, Arc::new(FakeJobs::default()), Arc::<Heard>::default());
        scribe.keep(said(&place, ["tea".into(), "noted".into()]));
        while scribe.trouble().is_none() {
            thread::yield_now();
        }
        assert!(scribe.trouble().is_some_and(|trouble| trouble.message.starts_with(NOT_KEPT)));
        scribe.keep(said(&place, ["milk".into(), "noted too".into()]));
        assert_eq!(scribe.end(), 0);
        assert_eq!(scribe.trouble(), None);
    });
}
