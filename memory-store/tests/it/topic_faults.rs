//! Every change of topics on a faulty disk takes effect completely or not at all.
//!
//! The disk fails or dies at every step.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use memory_core::SecretPolicy;
use memory_core::testing::topics;
use memory_core::topic::{
    TopicError, TopicKind, TopicPath, TopicStore, TopicWriteRequest, Topics, delete,
    external_operation, file, history, last, record_external_changes, undo, update, view, write,
};
use memory_store::disk::RealDisk;
use memory_store::topic::TopicFolder;
use tempfile::TempDir;

use crate::faulty_disk::{DiskFault, FaultyDisk, run_fault_table};
use crate::home::{assert_texts_exist, save_all};
use crate::requests::topic_request;

type TopicOperationFn = fn(&Topics) -> Result<(), TopicError>;

const CHANGES: [(&str, TopicOperationFn); 10] = [
    ("write of a new topic", |topics| {
        write(topics, &request("new", "1")).map(drop)
    }),
    ("write of a known topic", |topics| {
        write(topics, &request("a", "2")).map(drop)
    }),
    ("update", |topics| {
        update(topics, "a", "one", "2", SecretPolicy::Refuse).map(drop)
    }),
    ("delete of a topic", |topics| delete(topics, "a").map(drop)),
    ("delete of a folder", |topics| {
        file::delete(topics, &path("notes"))
    }),
    ("rename of a file", |topics| {
        file::rename(topics, &path("a.md"), &path("deep/er/a.md"))
    }),
    ("rename of a folder", |topics| {
        file::rename(topics, &path("notes"), &path("older"))
    }),
    ("undo of a write", |topics| undo_last(topics, 0)),
    ("undo of a delete of a folder", |topics| {
        undo_last(topics, 1)
    }),
    (
        "record of changes by another program",
        record_changes_by_another_program,
    ),
];

/// Only the recording is subject to faults.
fn record_changes_by_another_program(topics: &Topics) -> Result<(), TopicError> {
    let home = topics.store.location();
    let operation = &mut || external_operation(topics.clock.as_ref(), topics.ids.as_ref());
    TopicFolder::new(&home).watch(operation)?;
    let home = Path::new(&home);
    std::fs::remove_file(home.join("a.md")).unwrap();
    std::fs::write(home.join("b.md"), "text\n").unwrap();
    record_external_changes(topics).map(drop)
}

fn undo_last(topics: &Topics, back: usize) -> Result<(), TopicError> {
    let record = history(topics)?
        .into_iter()
        .nth(back)
        .expect("something was done");
    undo(topics, record.operation.id.as_str()).map(drop)
}

fn path(text: &str) -> TopicPath {
    text.parse().expect("a path")
}

fn request(name: &str, content: &str) -> TopicWriteRequest {
    TopicWriteRequest {
        title: Some(format!("Title of {name}")),
        kind: Some(TopicKind::User),
        ..topic_request(name, content)
    }
}

fn open(path: &Path) -> Topics {
    // The ids after the preparation must differ from those of the preparation.
    let (topics, _) = topics(Arc::new(TopicFolder::new(path)));
    Topics {
        ids: Arc::new(memory_store::RandomIds),
        ..topics
    }
}

fn prepare(home: &Path) {
    let topics = open(home);
    for (place, text) in [
        ("notes/a.txt", "1"),
        ("notes/deep/b.txt", "2"),
        ("gone/a.txt", "3"),
        ("gone/b.txt", "4"),
    ] {
        file::create(&topics, &path(place), text, SecretPolicy::Refuse).unwrap();
    }
    std::fs::write(home.join("MEMORY.md"), "# Mine\n\na line of mine\n").unwrap();
    file::delete(&topics, &path("gone")).unwrap();
    write(&topics, &request("a", "one")).unwrap();
}

/// Runs `act` on topics with a disk that has `fault` at step `at`.
///
/// Returns the folder, whether `act` succeeded, and its number of steps.
fn run(act: TopicOperationFn, fault: DiskFault, at: u64) -> (TempDir, bool, u64) {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
    let clock = disk.clock();
    let store: Arc<dyn TopicStore> = Arc::new(TopicFolder::with_disk(home.path(), Arc::new(disk)));
    let topics = Topics {
        store,
        clock,
        ..open(home.path())
    };
    let acknowledged = act(&topics).is_ok();
    (home, acknowledged, steps.load(Ordering::Relaxed))
}

/// Returns the files of the folder, without the index, the trash and lines with times.
fn files(home: &Path) -> BTreeMap<String, String> {
    let topics = open(home);
    let entries = file::entries(&topics, None).unwrap().unwrap();
    let files = entries
        .into_iter()
        .filter(|entry| !entry.is_folder && !entry.path.is_index());
    let is_time = |line: &&str| {
        ["created: ", "updated: "]
            .iter()
            .any(|key| line.starts_with(key))
    };
    let without_times = |text: String| {
        text.split_inclusive('\n')
            .filter(|line| !is_time(line))
            .collect::<String>()
    };
    files
        .map(|entry| {
            (
                entry.path.to_string(),
                without_times(file::read(&topics, &entry.path).unwrap().unwrap()),
            )
        })
        .collect()
}

fn state(home: &Path) -> (BTreeMap<String, String>, usize) {
    (files(home), history(&open(home)).unwrap().len())
}

fn check(what: &str, act: TopicOperationFn, fault: DiskFault) -> u64 {
    let (untouched, ..) = run(|_| Ok(()), DiskFault::Dies, u64::MAX);
    let before = state(untouched.path());
    let (whole, acknowledged, _) = run(act, DiskFault::Dies, u64::MAX);
    assert!(acknowledged, "{what} works on a disk that works");
    let after = state(whole.path());
    assert_ne!(before, after, "{what} does something");
    let (.., steps) = run(act, fault, u64::MAX);
    for at in fault.steps(what, steps) {
        let (home, acknowledged, _) = run(act, fault, at);
        // Readers never see a partial index, or one without the lines of the user.
        let index = std::fs::read_to_string(home.path().join("MEMORY.md")).unwrap();
        assert!(
            index.starts_with("# Mine\n\na line of mine\n") && index.ends_with('\n'),
            "{what}, {fault:?} at step {at}: {index}"
        );
        // The next writer runs first: it recovers from the interrupted operation.
        let topics = open(home.path());
        write(&topics, &request("next", "1"))
            .unwrap_or_else(|error| panic!("{what}, {fault:?} at step {at}: then {error}"));
        undo(
            &topics,
            last(&topics).unwrap().unwrap().operation.id.as_str(),
        )
        .unwrap();
        let (held, operations) = state(home.path());
        let now = (held, operations - 2);
        let is_whole = now == after;
        assert!(
            is_whole || now == before,
            "{what}, {fault:?} at step {at} is half done: {now:#?}"
        );
        assert!(
            is_whole || !acknowledged,
            "{what}, {fault:?} at step {at} was acknowledged and is lost"
        );
        assert_eq!(
            std::fs::read_to_string(home.path().join("MEMORY.md")).unwrap(),
            view(&topics).unwrap(),
            "the index is right"
        );
        let waiting: Vec<_> = std::fs::read_dir(home.path().join(".next"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(
            waiting,
            Vec::<std::path::PathBuf>::new(),
            "{what}, {fault:?} at step {at} leaves something behind"
        );
    }
    steps
}

#[test]
fn a_fault_at_any_step_leaves_every_change_of_topics_whole_or_undone() {
    run_fault_table(&CHANGES, &DiskFault::ALL, check);
}

#[test]
fn what_another_program_saves_before_any_step_is_lost_nowhere() {
    for (what, act) in CHANGES {
        for at in 1.. {
            let home = tempfile::tempdir().unwrap();
            prepare(home.path());
            let (folder, saved) = (home.path().to_owned(), Arc::<Mutex<Vec<String>>>::default());
            let notes = Arc::clone(&saved);
            let save = move || notes.lock().unwrap().extend(save_all(&folder));
            let (disk, steps) =
                FaultyDisk::with_concurrent_saves(RealDisk::open(home.path()).unwrap(), at, save);
            let store: Arc<dyn TopicStore> =
                Arc::new(TopicFolder::with_disk(home.path(), Arc::new(disk)));
            let done = act(&Topics {
                store,
                ..open(home.path())
            });
            if steps.load(Ordering::Relaxed) < at {
                break;
            }
            assert_texts_exist(
                &saved.lock().unwrap(),
                home.path(),
                &format!("{what}, saved before step {at}, {done:?}"),
            );
            write(&open(home.path()), &request("next", "1")).unwrap();
        }
    }
}
