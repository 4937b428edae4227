//! Tests of dreams on a disk that fails at each step.
//!
//! The next dream completes the work, without loss and without duplicates.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_agent::model::{ChatSettings, RemoteChat};
use memory_core::testing::{CountingIds, FakeClock, copy_folder};
use memory_core::{
    Clock, Draft, Filter, IdSource, LocalZone, SecretPolicy, Services, StoreError, Verb, link, pin,
    undo, write,
};
use memory_dream::merge::check_conserved;
use memory_dream::{DreamReport, DreamRequest, DreamRules, DreamTask, ProgressCallback, dream};
use memory_store::disk::RealDisk;
use memory_store::{FileStore, FileStoreOptions};

use crate::faulty_disk::{DiskFault, FaultyDisk, run_fault_table};
use crate::proxy::upstream::{FakeUpstream, UpstreamReply};

const TASKS: [DreamTask; 8] = [
    DreamTask::Expire,
    DreamTask::Decay,
    DreamTask::Upgrade,
    DreamTask::Classify,
    DreamTask::Merge,
    DreamTask::Link,
    DreamTask::Remind,
    DreamTask::Review,
];

/// One fault of each kind.
const FAULTS: [DiskFault; 6] = [
    DiskFault::Dies,
    DiskFault::Forgets,
    DiskFault::FULL,
    DiskFault::Blind(5),
    DiskFault::GoesBack,
    DiskFault::Stands,
];

/// A clock that is eight days ahead of another.
#[derive(Debug)]
struct OffsetClock(Arc<dyn Clock>);

impl Clock for OffsetClock {
    fn now(&self) -> DateTime<Utc> {
        self.0.now() + TimeDelta::days(8)
    }

    fn zone(&self) -> LocalZone {
        self.0.zone()
    }
}

fn services(store: FileStore, ids: usize) -> Services {
    let (clock, counting) = (Arc::new(FakeClock::default()), CountingIds::default());
    (0..ids).for_each(|_| drop(counting.operation_id()));
    clock.advance(TimeDelta::days(8));
    Services {
        clock,
        ids: Arc::new(counting),
        actor: "test".into(),
        ..Services::new(Arc::new(store))
    }
}

fn open(home: &Path, ids: usize) -> Services {
    services(
        FileStore::open(home, FileStoreOptions::default()).expect("it works"),
        ids,
    )
}

fn prepare(home: &Path) -> Vec<String> {
    let services = Services {
        clock: Arc::new(FakeClock::default()),
        ..open(home, 0)
    };
    let put = |text: &str| {
        write(&services, Draft::new(text), SecretPolicy::Refuse)
            .expect("it works")
            .id
            .to_string()
    };
    let short = put("The staging server runs PostgreSQL 16 on port 5433.");
    put(
        "The staging server runs PostgreSQL 16 on port 5433. Backups are taken at night. See [[tea]].",
    );
    put("user prefers dark mode in every editor");
    put("教训：上线前必须先备份数据库，上次没有备份导致数据丢失");
    let pinned = put("tea");
    pin(&services, &pinned).expect("it works");
    put("tbd");
    link(&services, &pinned, &short).expect("it works");
    texts(&services)
}

fn all_memories(services: &Services) -> Vec<memory_core::Memory> {
    services.store.refresh().expect("it works");
    services
        .store
        .memories(&Filter::all(), services.clock.now())
        .map(|stored| stored.expect("it works").memory)
        .collect()
}

fn texts(services: &Services) -> Vec<String> {
    let mut texts: Vec<String> = all_memories(services)
        .into_iter()
        .map(|memory| memory.content)
        .collect();
    texts.sort();
    texts
}

fn state(services: &Services) -> Vec<String> {
    let line = |memory: memory_core::Memory| {
        format!(
            "{} {:?} {:?} {:?} {:?}",
            memory.content, memory.category, memory.tags, memory.links, memory.supersedes
        )
    };
    let mut lines: Vec<_> = all_memories(services).into_iter().map(line).collect();
    lines.sort();
    lines
}

fn run_dream(services: &Services) -> Result<DreamReport, StoreError> {
    run_dream_with(services, DreamRules::default())
}

fn run_dream_with(services: &Services, rules: DreamRules) -> Result<DreamReport, StoreError> {
    let mut go_on = |_| ControlFlow::Continue(());
    let what = DreamRequest {
        verb: Verb::Dream,
        tasks: &TASKS,
        rules,
        is_rehearsal: false,
        zone: &Utc,
        recalls: None,
    };
    dream(services, &what, &mut ProgressCallback::new(&mut go_on))
}

/// Dreams in a copy of a home on a disk that has `fault` at step `at`.
///
/// Returns the copy, and the number of steps.
fn run(prepared: &Path, fault: DiskFault, at: u64) -> (tempfile::TempDir, u64) {
    let home = tempfile::tempdir().expect("it works");
    copy_folder(prepared, home.path());
    let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).expect("it works"), fault, at);
    // An error of this dream is ignored; the next dream completes the work.
    let clock = Arc::new(OffsetClock(disk.clock()));
    let own = services(
        FileStore::on_disk(Arc::new(disk), home.path(), FileStoreOptions::default()),
        100,
    );
    let _ = run_dream(&Services { clock, ..own });
    (home, steps.load(Ordering::Relaxed))
}

fn check(prepared: &Path, before: &[String], fault: DiskFault) -> u64 {
    let (whole, _) = run(prepared, DiskFault::Dies, u64::MAX);
    let expected = state(&open(whole.path(), 200));
    assert_eq!(
        expected.len(),
        4,
        "two became one, and one expired: {expected:#?}"
    );
    let (_, steps) = run(prepared, fault, u64::MAX);
    let is_blind = matches!(fault, DiskFault::Blind(_));
    for at in fault.steps("dream", steps) {
        let (home, _) = run(prepared, fault, at);
        let services = open(home.path(), 200);
        run_dream(&services).unwrap_or_else(|error| panic!("{fault:?} at step {at}: then {error}"));
        // After a transient read error, the two dreams may have a different result, but lose nothing.
        if !is_blind {
            assert_eq!(state(&services), expected, "{fault:?} at step {at}");
        }
        let trashed = services
            .history
            .trashed()
            .map(|trashed| trashed.expect("it works").trash);
        let mut kept: Vec<String> = trashed
            .map(|trash| std::fs::read_to_string(home.path().join(trash)).expect("it works"))
            .collect();
        kept.extend(texts(&services));
        let sources: Vec<&str> = before.iter().map(String::as_str).collect();
        let lost = check_conserved(
            &sources,
            &kept.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        assert!(lost.is_ok(), "{fault:?} at step {at}: {lost:?}");
        assert!(
            run_dream(&services).expect("it works").operation.is_none(),
            "{fault:?} at step {at}: something was left to do"
        );
        let store = FileStore::open(home.path(), FileStoreOptions::default()).expect("it works");
        let found = store.doctor(None).expect("it works").findings;
        // A journal line that was truncated by the fault is reported.
        let is_told =
            |code: &str| code == "journal_damaged" || is_blind && code == "link_one_sided";
        assert!(
            found.iter().all(|finding| is_told(finding.code)),
            "{fault:?} at step {at}: {found:?}"
        );
    }
    steps
}

#[test]
fn a_dream_on_a_disk_with_a_fault_is_dreamt_to_its_end_later() {
    let prepared = tempfile::tempdir().expect("it works");
    let before = prepare(prepared.path());
    run_fault_table(&[("dream", ())], &FAULTS, |_, (), fault| {
        check(prepared.path(), &before, fault)
    });
}

#[test]
fn one_undo_takes_a_whole_dream_back() {
    let home = tempfile::tempdir().expect("it works");
    let before = prepare(home.path());
    let services = open(home.path(), 100);
    let (lines, dreamt) = (state(&services), run_dream(&services).expect("it works"));
    assert!(texts(&services) != before);
    undo(
        &services,
        Some(dreamt.operation.expect("something was done").as_str()),
    )
    .expect("it works");
    assert_eq!(state(&services), lines);
}

#[test]
fn automatic_work_leaves_a_file_alone_that_was_just_saved_by_an_editor() {
    let home = tempfile::tempdir().expect("it works");
    let clock = Arc::new(FakeClock::default());
    clock.advance(TimeDelta::days(1));
    let services = Services {
        clock: Arc::clone(&clock) as _,
        ..open(home.path(), 0)
    };
    write(
        &services,
        Draft::new("user prefers light mode in the terminal"),
        SecretPolicy::Refuse,
    )
    .expect("it works");
    let path = home.path().join("categories/inbox/mode.md");
    fs::write(&path, "user prefers dark mode in every editor\n").expect("it works");
    let saved = File::options().write(true).open(&path).expect("it works");
    saved.set_modified(clock.now().into()).expect("it works");
    clock.advance(TimeDelta::minutes(1));
    let rules = DreamRules {
        edit_pause: TimeDelta::minutes(10),
        ..DreamRules::default()
    };
    let filed = || {
        run_dream_with(&services, rules)
            .expect("it works")
            .filed
            .len()
    };
    assert_eq!(
        (filed(), path.exists()),
        (1, true),
        "the memory of the program alone is filed"
    );
    clock.advance(TimeDelta::minutes(9));
    assert_eq!((filed(), path.exists()), (1, false));
}

type ReplyFactory = fn() -> UpstreamReply;

/// Failures of a request to a language model.
const FAILING_REPLIES: [(&str, ReplyFactory); 5] = [
    ("hangs", || UpstreamReply::Hang(channel().0)),
    ("breaks off", || UpstreamReply::Break),
    ("closes", || UpstreamReply::Close),
    ("status 500", || {
        UpstreamReply::Whole(500, "", String::new())
    }),
    ("status 429", || {
        UpstreamReply::Whole(429, "Retry-After: 60\r\n", String::new())
    }),
];

/// Dreams with a model that fails at request `at` and returns nothing useful otherwise.
///
/// Returns the home, the texts before the dream, and the number of requests.
fn dream_with_failure(trouble: ReplyFactory, at: usize) -> (tempfile::TempDir, Vec<String>, usize) {
    let home = tempfile::tempdir().expect("it works");
    let before = prepare(home.path());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let upstream = FakeUpstream::start(move |_| {
        let is_it = counted.fetch_add(1, Ordering::SeqCst) + 1 == at;
        if is_it {
            trouble()
        } else {
            UpstreamReply::completion("Let me think about it.")
        }
    });
    let settings = ChatSettings {
        timeout: Duration::from_millis(300),
        tries: 1,
        ..ChatSettings::new(upstream.base_url(), "m")
    };
    let chat = RemoteChat::new(settings).expect("the address is sound");
    run_dream(&Services {
        chat: Some(Arc::new(chat)),
        ..open(home.path(), 100)
    })
    .expect("what a model does stops no dream");
    (home, before, asked.load(Ordering::SeqCst))
}

#[test]
fn a_dream_whose_model_is_in_trouble_at_any_question_is_dreamt_without_it() {
    let prepared = tempfile::tempdir().expect("it works");
    prepare(prepared.path());
    let (whole, _) = run(prepared.path(), DiskFault::Dies, u64::MAX);
    let expected = state(&open(whole.path(), 200));
    let (.., questions) = dream_with_failure(FAILING_REPLIES[0].1, usize::MAX);
    assert!(0 < questions, "a model is asked");
    println!(
        "| command | {} |",
        FAILING_REPLIES.map(|(what, _)| what).join(" | ")
    );
    println!(
        "|---|{}\n| dream |{}",
        "---:|".repeat(FAILING_REPLIES.len()),
        format!(" {questions} |").repeat(FAILING_REPLIES.len())
    );
    for (what, trouble) in FAILING_REPLIES {
        for at in 1..=questions {
            let (home, before, _) = dream_with_failure(trouble, at);
            let services = open(home.path(), 200);
            run_dream(&services).expect("it works");
            assert_eq!(state(&services), expected, "{what} at question {at}");
            assert!(
                run_dream(&services).expect("it works").operation.is_none(),
                "{what} at question {at}: something was left to do"
            );
            let found = FileStore::open(home.path(), FileStoreOptions::default())
                .expect("it works")
                .doctor(None)
                .expect("it works")
                .findings;
            assert!(found.is_empty(), "{what} at question {at}: {found:?}");
            let mut kept = texts(&services);
            let trashed = services
                .history
                .trashed()
                .map(|trashed| trashed.expect("it works").trash);
            kept.extend(
                trashed.map(|trash| {
                    std::fs::read_to_string(home.path().join(trash)).expect("it works")
                }),
            );
            let sources: Vec<&str> = before.iter().map(String::as_str).collect();
            let lost = check_conserved(
                &sources,
                &kept.iter().map(String::as_str).collect::<Vec<_>>(),
            );
            assert!(lost.is_ok(), "{what} at question {at}: {lost:?}");
        }
    }
}
