//! Tests the background writer under randomized thread schedules.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use memory_core::testing::{FakeConversations, FakeJobs, HookStep, conversations, in_any_order};
use memory_core::{LocalZone, StoreError};

use super::writer::NOT_KEPT;
use super::*;

/// Number of concurrent speakers, and of exchanges of each.
const SPEAKERS: usize = 2;
const TIMES: usize = 3;

/// Records its notifications.
#[derive(Default)]
struct RecordingObserver {
    kept: AtomicUsize,
    troubles: Mutex<Vec<String>>,
}

impl ProxyObserver for RecordingObserver {
    fn turns_stored(&self, _: &ConversationId) {
        self.kept.fetch_add(1, Ordering::SeqCst);
    }

    fn report_failure(&self, what: &str) {
        self.troubles
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(what.to_owned());
    }

    fn extraction_failure(&self) -> Option<String> {
        None
    }
}

/// Fails at a step while refusals are left; each error names a different file.
fn fail_at(refusals: usize, at: HookStep) -> impl Fn(HookStep) -> Result<(), StoreError> {
    let left = AtomicUsize::new(refusals);
    move |step| {
        // A disk write takes time, during which other threads run.
        thread::yield_now();
        let refused = (step == at).then(|| {
            left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
        });
        match refused {
            Some(Ok(left)) => Err(StoreError::Outside {
                path: format!("entries/.new-{left}.tmp"),
            }),
            _ => Ok(()),
        }
    }
}

/// Fails the first `refusals` writes.
fn failing_store(refusals: usize) -> Arc<FakeConversations> {
    Arc::new(FakeConversations::with_hook(fail_at(
        refusals,
        HookStep::Write,
    )))
}

/// Stores a user message.
fn send_question(scribe: &TurnWriter, conversation: &ConversationId, question: &str) {
    let what = TurnEvent::Asked {
        question: question.into(),
        is_under_way: false,
    };
    scribe.enqueue(QueuedTurn {
        conversation: conversation.clone(),
        what,
    });
}

/// Stores a user message and its response.
fn send_exchange(scribe: &TurnWriter, conversation: &ConversationId, question: &str, answer: &str) {
    send_question(scribe, conversation, question);
    let what = TurnEvent::Answered {
        question: Some(question.into()),
        answer: answer.to_owned(),
    };
    scribe.enqueue(QueuedTurn {
        conversation: conversation.clone(),
        what,
    });
}

/// Runs all speakers concurrently in one conversation, on a store that fails at first, then shuts down.
///
/// Returns the stored texts, the number of lost turns, the number of queued jobs, and the recorded notifications.
fn run_speakers(refusals: usize) -> (Vec<String>, usize, usize, Arc<RecordingObserver>) {
    let store = conversations(failing_store(refusals));
    let (jobs, heard, place) = (
        Arc::new(FakeJobs::default()),
        Arc::<RecordingObserver>::default(),
        ConversationId::default_conversation(),
    );
    let scribe = Arc::new(TurnWriter::start(
        store.clone(),
        Arc::clone(&jobs) as _,
        Arc::clone(&heard) as _,
    ));
    let speak = |who: usize| {
        let (scribe, place) = (Arc::clone(&scribe), place.clone());
        thread::spawn(move || {
            for number in 0..TIMES {
                send_exchange(
                    &scribe,
                    &place,
                    &format!("{who} asks {number}"),
                    &format!("{who} hears {number}"),
                );
            }
        })
    };
    let speakers: Vec<_> = (0..SPEAKERS).map(speak).collect();
    for speaker in speakers {
        speaker.join().unwrap();
    }
    let lost = scribe.stop();
    send_exchange(&scribe, &place, "too late", "too late");
    assert_eq!(
        scribe.stop(),
        0,
        "nothing is kept after the end, and nothing lost twice"
    );
    let kept = store
        .store
        .read(&place)
        .unwrap()
        .entries()
        .iter()
        .map(|entry| entry.content.clone())
        .collect();
    (kept, lost, jobs.pending().unwrap().len(), heard)
}

#[test]
fn what_many_say_at_once_is_kept_once_in_the_order_of_each_and_a_job_for_each_message() {
    in_any_order(|| {
        // A failed write is retried with the next message, or at shutdown.
        let (texts, lost, jobs, heard) = run_speakers(1);
        assert_eq!(
            (texts.len(), lost, jobs),
            (2 * SPEAKERS * TIMES, 0, SPEAKERS * TIMES),
            "{texts:?}"
        );
        for who in 0..SPEAKERS {
            let own: Vec<_> = texts
                .iter()
                .filter(|text| text.starts_with(&who.to_string()))
                .cloned()
                .collect();
            let all = (0..TIMES).flat_map(|number| {
                [
                    format!("{who} asks {number}"),
                    format!("{who} hears {number}"),
                ]
            });
            assert_eq!(own, all.collect::<Vec<_>>());
        }
        assert!(
            heard.kept.load(Ordering::SeqCst) > 0,
            "who makes something of it is told"
        );
        assert_eq!(heard.troubles.lock().unwrap().len(), 1);
    });
}

#[test]
fn what_cannot_be_kept_is_told_once_and_counted_at_the_end() {
    in_any_order(|| {
        let (texts, lost, jobs, heard) = run_speakers(usize::MAX);
        assert_eq!(
            (texts.len(), lost, jobs),
            (0, 2 * SPEAKERS * TIMES, 0),
            "{texts:?}"
        );
        assert_eq!(heard.kept.load(Ordering::SeqCst), 0);
        let troubles = heard.troubles.lock().unwrap();
        assert_eq!(troubles.len(), 1, "each thing is told once: {troubles:?}");
    });
}

#[test]
fn whoever_asks_next_is_told_what_could_not_be_kept_until_it_is() {
    in_any_order(|| {
        let store = conversations(failing_store(1));
        let place = ConversationId::default_conversation();
        let scribe = TurnWriter::start(
            store,
            Arc::new(FakeJobs::default()),
            Arc::<RecordingObserver>::default(),
        );
        send_question(&scribe, &place, "tea");
        while scribe.storage_error(&place).is_none() {
            thread::yield_now();
        }
        assert!(
            scribe
                .storage_error(&place)
                .is_some_and(|trouble| trouble.message.starts_with(NOT_KEPT))
        );
        assert_eq!(
            scribe.storage_error(&"work".parse().unwrap()),
            None,
            "that is nobody else's affair"
        );
        send_exchange(&scribe, &place, "milk", "noted too");
        assert_eq!(scribe.stop(), 0);
        assert_eq!(scribe.storage_error(&place), None);
    });
}

#[test]
fn what_is_tried_again_is_kept_once_and_as_of_when_it_was_said() {
    in_any_order(|| {
        let store = conversations(Arc::new(FakeConversations::with_hook(fail_at(
            1,
            HookStep::Written,
        ))));
        let (place, other) = (
            ConversationId::default_conversation(),
            "work".parse().unwrap(),
        );
        let began = store.clock.now();
        let scribe = TurnWriter::start(
            store.clone(),
            Arc::new(FakeJobs::default()),
            Arc::<RecordingObserver>::default(),
        );
        send_exchange(&scribe, &place, "tea", "noted");
        let said = store.clock.now();
        send_exchange(&scribe, &other, "milk", "noted");
        send_exchange(&scribe, &place, "milk", "noted");
        assert_eq!(scribe.stop(), 0);
        let kept = store.store.read(&place).unwrap().entries();
        assert_eq!(
            kept.iter()
                .map(|entry| entry.content.as_str())
                .collect::<Vec<_>>(),
            ["tea", "noted", "milk", "noted"]
        );
        assert!(
            kept[..2]
                .iter()
                .all(|entry| began < entry.created_at && entry.created_at < said)
        );
    });
}

#[test]
fn a_job_that_is_refused_is_tried_again_and_told_meanwhile() {
    in_any_order(|| {
        let (store, heard, place) = (
            conversations(failing_store(0)),
            Arc::<RecordingObserver>::default(),
            ConversationId::default_conversation(),
        );
        let jobs = Arc::new(FakeJobs::with_hook(fail_at(1, HookStep::Write)));
        let scribe = TurnWriter::start(
            store.clone(),
            Arc::clone(&jobs) as _,
            Arc::clone(&heard) as _,
        );
        send_question(&scribe, &place, "tea");
        while scribe.storage_error(&place).is_none() {
            thread::yield_now();
        }
        assert!(scribe.storage_error(&place).is_some_and(|trouble| {
            trouble
                .message
                .starts_with("fact extraction could not be queued")
        }));
        send_exchange(&scribe, &place, "milk", "noted");
        assert_eq!(scribe.stop(), 0);
        assert_eq!(
            (jobs.pending().unwrap().len(), scribe.storage_error(&place)),
            (2, None)
        );
        assert_eq!(store.store.read(&place).unwrap().len(), 3);
    });
}

#[test]
fn what_is_said_in_many_conversations_while_the_disk_is_busy_is_kept_by_one_change() {
    in_any_order(|| {
        let (writes, is_free) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (count, free) = (Arc::clone(&writes), Arc::clone(&is_free));
        let busy = move |step| {
            if step == HookStep::Write && count.fetch_add(1, Ordering::SeqCst) == 0 {
                while !free.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
            }
            Ok(())
        };
        let store = conversations(Arc::new(FakeConversations::with_hook(busy)));
        let jobs = Arc::new(FakeJobs::default());
        let scribe = TurnWriter::start(
            store,
            Arc::clone(&jobs) as _,
            Arc::<RecordingObserver>::default(),
        );
        send_question(&scribe, &ConversationId::default_conversation(), "tea");
        for number in 0..5 {
            send_exchange(
                &scribe,
                &format!("work-{number}").parse().unwrap(),
                "tea",
                "noted",
            );
        }
        is_free.store(true, Ordering::SeqCst);
        assert_eq!((scribe.stop(), jobs.pending().unwrap().len()), (0, 6));
        assert!(writes.load(Ordering::SeqCst) <= 2, "{writes:?} changes");
    });
}

/// A clock in milliseconds that only advances explicitly.
#[derive(Debug, Default)]
struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0.load(Ordering::SeqCst))
            .expect("tests take no thousand years")
    }

    fn zone(&self) -> LocalZone {
        LocalZone::utc()
    }
}

#[test]
fn an_answer_that_ends_behind_a_backlog_waits_until_its_own_turn_is_written() {
    in_any_order(|| {
        // The n-th write waits for the n-th permit.
        let (writes, permits) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (count, permitted) = (Arc::clone(&writes), Arc::clone(&permits));
        let busy = move |step| {
            let number = if step == HookStep::Write {
                count.fetch_add(1, Ordering::SeqCst) + 1
            } else {
                0
            };
            while permitted.load(Ordering::SeqCst) < number {
                thread::yield_now();
            }
            Ok(())
        };
        let clock = Arc::<ManualClock>::default();
        let store = conversations(Arc::new(FakeConversations::with_hook(busy)));
        let store = Conversations {
            clock: Arc::clone(&clock) as _,
            ..store
        };
        let place = ConversationId::default_conversation();
        let scribe = TurnWriter::start(
            store.clone(),
            Arc::new(FakeJobs::default()),
            Arc::<RecordingObserver>::default(),
        );
        let pending = || scribe.pending_write(Duration::MAX);
        send_exchange(&scribe, &place, "tea", "noted");
        assert!(pending().is_none(), "the writer keeps up");
        while writes.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        clock.0.fetch_add(150, Ordering::SeqCst);
        send_exchange(&scribe, &place, "milk", "noted too");
        let mut answer = pending().expect("the oldest turn is queued for long");
        let mut permit = 0;
        while !answer.is_over() {
            let begun = writes.load(Ordering::SeqCst);
            if permit < begun && store.store.read(&place).unwrap().len() < 4 {
                assert!(!answer.is_over(), "its turn is not written yet");
                permit = begun;
                permits.store(permit, Ordering::SeqCst);
            }
            thread::yield_now();
        }
        assert_eq!(store.store.read(&place).unwrap().len(), 4);
        permits.store(usize::MAX, Ordering::SeqCst);
        assert_eq!(scribe.stop(), 0);
        assert!(pending().is_none(), "nothing is queued");
    });
}

#[test]
fn a_turn_is_unwritten_or_in_the_store() {
    in_any_order(|| {
        let slow = |_| {
            thread::yield_now();
            Ok(())
        };
        let store = conversations(Arc::new(FakeConversations::with_hook(slow)));
        let place = ConversationId::default_conversation();
        let scribe = TurnWriter::start(
            store.clone(),
            Arc::new(FakeJobs::default()),
            Arc::<RecordingObserver>::default(),
        );
        for question in ["tea", "milk"] {
            send_question(&scribe, &place, question);
            send_question(&scribe, &"other".parse().unwrap(), "coffee");
            let unwritten = scribe.unwritten_turns(&store, &place);
            let stored = store.store.read(&place).unwrap().entries();
            let mut all = unwritten
                .iter()
                .chain(stored.iter().map(AsRef::as_ref))
                .map(|turn| turn.content.as_str());
            assert!(all.any(|text| text == question), "{unwritten:?} {stored:?}");
            assert!(unwritten.iter().all(|turn| turn.content != "coffee"));
        }
        assert_eq!(scribe.stop(), 0);
        assert!(scribe.unwritten_turns(&store, &place).is_empty());
    });
}

#[test]
fn a_write_that_fails_holds_up_no_answer() {
    in_any_order(|| {
        let store = conversations(failing_store(usize::MAX));
        let scribe = TurnWriter::start(
            store,
            Arc::new(FakeJobs::default()),
            Arc::<RecordingObserver>::default(),
        );
        for question in ["tea", "milk"] {
            // The fake clock advances by a second with each call, so every queued message is old.
            send_question(&scribe, &ConversationId::default_conversation(), question);
            if let Some(mut answer) = scribe.pending_write(Duration::MAX) {
                while !answer.is_over() {
                    thread::yield_now();
                }
            }
        }
        assert_eq!(scribe.stop(), 2);
    });
}

#[test]
fn what_waits_has_a_bound_and_what_does_not_find_room_is_counted() {
    let claim = || {
        let (jobs, heard, place) = (
            Arc::new(FakeJobs::default()),
            Arc::<RecordingObserver>::default(),
            ConversationId::default_conversation(),
        );
        let scribe = TurnWriter::start(
            conversations(failing_store(usize::MAX)),
            jobs,
            Arc::clone(&heard) as _,
        );
        let long = "x".repeat(13 << 20);
        for number in 0..6 {
            send_exchange(&scribe, &place, &number.to_string(), &long);
        }
        assert_eq!(scribe.stop(), 12, "all are lost in the end, and each once");
        let troubles = heard.troubles.lock().unwrap().clone();
        assert_eq!(troubles.len(), 2, "{troubles:?}");
        assert!(
            troubles[1].starts_with("too many turns wait to be stored"),
            "{troubles:?}"
        );
    };
    // Long texts are slow, so a single schedule is tested.
    shuttle::check_random(claim, 1);
}
