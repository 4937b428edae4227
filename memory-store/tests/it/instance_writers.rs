//! Several processes append to one session; no record is lost, and records do not interleave.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use memory_core::SecretPolicy;
use memory_core::instance::history::{self, Messages, RecordDraft, RecordFilter, Window, append};
use memory_core::testing::{messages, wait_until};
use memory_store::disk::RealDisk;
use memory_store::history::HistoryFolder;

use crate::faulty_disk::FaultyDisk;

/// Environment variable with the folder, the writer and the number of appends.
const TASK: &str = "MEMORY_TEST_APPENDER";
const WRITERS: usize = 8;
/// Returns the number of changes of each writer.
fn changes_per_writer() -> usize {
    memory_core::testing::extent(50, 200)
}

fn open(folder: &Path) -> Messages {
    messages(Arc::new(HistoryFolder::new(folder))).0
}

fn append_records(all: &Messages, writer: &str, times: usize) {
    for number in 0..times {
        // Some records are longer than a pipe buffer or a page.
        let content = format!("{writer} {number} {}", "深".repeat(number * 37 % 5000));
        append(
            all,
            &"s".parse().unwrap(),
            &RecordDraft::from_text("user".parse().unwrap(), &content),
            SecretPolicy::Refuse,
        )
        .unwrap();
        if number % 50 == 49 {
            let old = RecordFilter {
                roles: vec!["nobody".parse().unwrap()],
                ..RecordFilter::default()
            };
            history::purge(all, &"s".parse().unwrap(), &old).unwrap();
        }
    }
}

fn read_numbers(all: &Messages, writer: &str) -> Vec<usize> {
    let reading = history::read(
        all,
        &"s".parse().unwrap(),
        &RecordFilter::default(),
        Window::default(),
    )
    .unwrap();
    assert!(reading.damaged.is_empty(), "every line is a record");
    let content = |record: &history::SessionRecord| {
        record.text().to_value()["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let own = reading.records.iter().map(content);
    own.filter_map(|text| {
        let mut words = text.split(' ');
        (words.next() == Some(writer)).then(|| words.next().unwrap().parse().unwrap())
    })
    .collect()
}

/// A writer process. On its own it appends three records; the test below starts it with a task.
#[test]
fn an_appender_appends() {
    if let Ok(task) = std::env::var(TASK) {
        let [folder, writer, times] = task.split('\n').collect::<Vec<_>>().try_into().unwrap();
        append_records(&open(Path::new(folder)), writer, times.parse().unwrap());
        return;
    }
    let home = tempfile::tempdir().unwrap();
    append_records(&open(home.path()), "w", 3);
    assert_eq!(read_numbers(&open(home.path()), "w"), [0, 1, 2]);
}

#[test]
fn eight_processes_that_append_at_once_lose_nothing_and_keep_their_order() {
    let home = tempfile::tempdir().unwrap();
    let writers: Vec<Child> = (0..WRITERS)
        .map(|number| start(home.path(), &format!("w{number}")))
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let all = open(home.path());
    for number in 0..WRITERS {
        assert_eq!(
            read_numbers(&all, &format!("w{number}")),
            (0..changes_per_writer()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn threads_that_append_at_once_share_syncs() {
    let home = tempfile::tempdir().unwrap();
    // The number of appends in progress, and the number of threads that are still running.
    let (under_way, alive) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(WRITERS)),
    );
    let wait = {
        let (under_way, alive) = (Arc::clone(&under_way), Arc::clone(&alive));
        move || {
            // The disk is so slow that all threads append during the write.
            wait_until("all threads append", || {
                alive.load(Ordering::SeqCst) <= under_way.load(Ordering::SeqCst)
            });
            (0..100).for_each(|_| thread::yield_now());
        }
    };
    let disk = FaultyDisk::with_slow_appends(RealDisk::open(home.path()).unwrap(), wait);
    let syncs = disk.sync_counter();
    let all = messages(Arc::new(HistoryFolder::with_disk(
        home.path(),
        Arc::new(disk),
    )))
    .0;
    let times = 25;
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (all, under_way, alive) = (&all, &under_way, &alive);
            scope.spawn(move || {
                for number in 0..times {
                    let said = RecordDraft::from_text(
                        "user".parse().unwrap(),
                        &format!("w{writer} {number} ."),
                    );
                    under_way.fetch_add(1, Ordering::SeqCst);
                    append(all, &"s".parse().unwrap(), &said, SecretPolicy::Refuse).unwrap();
                    under_way.fetch_sub(1, Ordering::SeqCst);
                }
                alive.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    let (syncs, appends) = (syncs.load(Ordering::SeqCst), (WRITERS * times) as u64);
    assert!(syncs <= appends / 2, "{appends} appends took {syncs} syncs");
    for writer in 0..WRITERS {
        assert_eq!(
            read_numbers(&open(home.path()), &format!("w{writer}")),
            (0..times).collect::<Vec<_>>(),
            "in their order"
        );
    }
}

fn start(folder: &Path, writer: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "instance_writers::an_appender_appends",
            "--nocapture",
        ])
        .env(
            TASK,
            format!("{}\n{writer}\n{}", folder.display(), changes_per_writer()),
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

#[test]
fn what_is_done_to_sessions_is_written_down_by_one_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    append(
        &open(home.path()),
        &"s".parse().unwrap(),
        &RecordDraft::from_text("user".parse().unwrap(), "x"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let (looked, alone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (looks, is_alone, root) = (
        Arc::clone(&looked),
        Arc::clone(&alone),
        home.path().to_owned(),
    );
    // Writers to other sessions append to the same log at the same time.
    let disk = FaultyDisk::with_slow_appends(RealDisk::open(home.path()).unwrap(), move || {
        looks.fetch_add(1, Ordering::SeqCst);
        is_alone.fetch_add(
            usize::from(std::fs::File::open(&root).unwrap().try_lock().is_err()),
            Ordering::SeqCst,
        );
    });
    let all = messages(Arc::new(HistoryFolder::with_disk(
        home.path(),
        Arc::new(disk),
    )))
    .0;
    history::delete(&all, &"s".parse().unwrap()).unwrap();
    assert_eq!(
        (looked.load(Ordering::SeqCst), alone.load(Ordering::SeqCst)),
        (1, 1)
    );
}
