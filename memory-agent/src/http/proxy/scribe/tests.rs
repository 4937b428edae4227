//! Claims about whoever keeps what was said, in many orders in which threads may have their turns.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_core::conversation::{
    ConversationStore, Entry, EntryChange, EntryId, EntryVector, Job, JobState, PendingJob, Shelf, TakenUp,
};
use memory_core::testing::{FakeConversations, FakeJobs, conversations, in_any_order};
use memory_core::{OperationId, StoreError};

use super::writer::NOT_KEPT;
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

/// Has no room the first `refusals` times that something is to be kept, or says so though it kept it.
#[derive(Debug)]
struct Full {
    store: FakeConversations,
    refusals: AtomicUsize,
    keeps_all_the_same: bool,
}

impl Full {
    fn new(refusals: usize) -> Arc<Self> {
        Arc::new(Self { store: FakeConversations::default(), refusals: AtomicUsize::new(refusals), keeps_all_the_same: false })
    }

    fn forgetful(refusals: usize) -> Arc<Self> {
        Arc::new(Self { keeps_all_the_same: true, store: FakeConversations::default(), refusals: AtomicUsize::new(refusals) })
    }
}

/// Refuses the first job so many times.
#[derive(Debug)]
struct FullQueue {
    jobs: FakeJobs,
    refusals: AtomicUsize,
}

impl JobQueue for FullQueue {
    fn push(&self, job: &Job) -> Result<(), StoreError> {
        match refused(&self.refusals) {
            Some(error) => Err(error),
            None => self.jobs.push(job),
        }
    }

    fn note(&self, job: &OperationId, state: &JobState) -> Result<(), StoreError> {
        self.jobs.note(job, state)
    }

    fn pending(&self) -> Result<Vec<PendingJob>, StoreError> {
        self.jobs.pending()
    }

    fn taken_up(&self, now: DateTime<Utc>) -> Result<TakenUp, StoreError> {
        self.jobs.taken_up(now)
    }

    fn claim(&self) -> Result<Option<Box<dyn Debug + Send>>, StoreError> {
        self.jobs.claim()
    }
}

/// Refuses something as long as refusals are left; each names another file.
fn refused(refusals: &AtomicUsize) -> Option<StoreError> {
    let left = refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).ok()?;
    Some(StoreError::Outside { path: format!("entries/.new-{left}.tmp") })
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

    fn asked_since(&self, moment: DateTime<Utc>) -> Result<Vec<Arc<Entry>>, StoreError> {
        self.store.asked_since(moment)
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
        let refused = refused(&self.refusals);
        if refused.is_none() || self.keeps_all_the_same {
            self.store.commit(conversation, changes)?;
        }
        refused.map_or(Ok(()), Err)
    }

    fn keep_vectors(&self, conversation: &ConversationId, model: &str, vectors: &[EntryVector]) -> Result<(), StoreError> {
        self.store.keep_vectors(conversation, model, vectors)
    }
}

/// Somebody asks.
fn asks(scribe: &Scribe, conversation: &ConversationId, question: &str) {
    let what = What::Asked { question: question.into(), is_under_way: false };
    scribe.keep(Said { conversation: conversation.clone(), what });
}

/// Somebody asks, and is answered.
fn talks(scribe: &Scribe, conversation: &ConversationId, question: &str, answer: &str) {
    asks(scribe, conversation, question);
    let what = What::Answered { question: Some(question.into()), answer: answer.to_owned() };
    scribe.keep(Said { conversation: conversation.clone(), what });
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
                talks(&scribe, &place, &format!("{who} asks {number}"), &format!("{who} hears {number}"));
            }
        })
    };
    let speakers: Vec<_> = (0..SPEAKERS).map(speak).collect();
    for speaker in speakers {
        speaker.join().unwrap();
    }
    let lost = scribe.end();
    talks(&scribe, &place, "too late", "too late");
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
        asks(&scribe, &place, "tea");
        while scribe.trouble(&place).is_none() {
            thread::yield_now();
        }
        assert!(scribe.trouble(&place).is_some_and(|trouble| trouble.message.starts_with(NOT_KEPT)));
        assert_eq!(scribe.trouble(&"work".parse().unwrap()), None, "that is nobody else's affair");
        talks(&scribe, &place, "milk", "noted too");
        assert_eq!(scribe.end(), 0);
        assert_eq!(scribe.trouble(&place), None);
    });
}

#[test]
fn what_is_tried_again_is_kept_once_and_as_of_when_it_was_said() {
    in_any_order(|| {
        let store = conversations(Full::forgetful(1));
        let (place, other) = (ConversationId::unnamed(), "work".parse().unwrap());
        let began = store.clock.now();
        let scribe = Scribe::begin(store.clone(), Arc::new(FakeJobs::default()), Arc::<Heard>::default());
        talks(&scribe, &place, "tea", "noted");
        let said = store.clock.now();
        talks(&scribe, &other, "milk", "noted");
        talks(&scribe, &place, "milk", "noted");
        assert_eq!(scribe.end(), 0);
        let kept = store.store.read(&place).unwrap().entries();
        assert_eq!(kept.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>(), ["tea", "noted", "milk", "noted"]);
        assert!(kept[..2].iter().all(|entry| began < entry.created_at && entry.created_at < said));
    });
}

#[test]
fn a_job_that_is_refused_is_tried_again_and_told_meanwhile() {
    in_any_order(|| {
        let (store, heard, place) = (conversations(Full::new(0)), Arc::<Heard>::default(), ConversationId::unnamed());
        let jobs = Arc::new(FullQueue { jobs: FakeJobs::default(), refusals: AtomicUsize::new(1) });
        let scribe = Scribe::begin(store.clone(), Arc::clone(&jobs) as _, Arc::clone(&heard) as _);
        asks(&scribe, &place, "tea");
        while scribe.trouble(&place).is_none() {
            thread::yield_now();
        }
        assert!(scribe.trouble(&place).is_some_and(|trouble| trouble.message.starts_with("no facts can be drawn")));
        talks(&scribe, &place, "milk", "noted");
        assert_eq!(scribe.end(), 0);
        assert_eq!((jobs.pending().unwrap().len(), scribe.trouble(&place)), (2, None));
        assert_eq!(store.store.read(&place).unwrap().len(), 3);
    });
}

#[test]
fn what_waits_has_a_bound_and_what_does_not_find_room_is_counted() {
    let claim = || {
        let (jobs, heard, place) = (Arc::new(FakeJobs::default()), Arc::<Heard>::default(), ConversationId::unnamed());
        let scribe = Scribe::begin(conversations(Full::new(usize::MAX)), jobs, Arc::clone(&heard) as _);
        let long = "x".repeat(13 << 20);
        for number in 0..6 {
            talks(&scribe, &place, &number.to_string(), &long);
        }
        assert_eq!(scribe.end(), 12, "all are lost in the end, and each once");
        let troubles = heard.troubles.lock().unwrap().clone();
        assert_eq!(troubles.len(), 2, "{troubles:?}");
        assert!(troubles[1].starts_with("too much waits to be kept"), "{troubles:?}");
    };
    // Long texts take their time.
    shuttle::check_random(claim, 1);
}
