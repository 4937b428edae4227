//! Recalls are recorded by many processes at once, within limits of age and size, and a failure only loses a record.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::testing::recall_ledger_suite;
use memory_core::{
    Code, Operation, RecallFilter, RecallLedger, RecallRecord, RecalledId, Verb, record_recall,
};
use memory_store::disk::RealDisk;
use memory_store::{FileStore, FileStoreOptions, RecallFolder};

use crate::faulty_disk::{DiskFault, FaultyDisk};
use crate::home::TestHome;

const FILE: &str = "recalls/2026-05.jsonl";
const UNLIMITED: u64 = 1 << 30;

fn ledger(home: &Path) -> RecallFolder {
    RecallFolder::new(home, UNLIMITED)
}

fn start() -> DateTime<Utc> {
    "2026-05-07T10:00:00Z".parse().unwrap()
}

fn recall(number: i64) -> RecallRecord {
    RecallRecord {
        at: start() + TimeDelta::seconds(number),
        agent: "codex".into(),
        session: Some("s1".into()),
        project: Some("harbour".into()),
        interface: "mcp".into(),
        tool: "memory_search".into(),
        query: Some(format!("question {number}\n")),
        memories: vec![RecalledId::unranked("55dc9232-1111-4111-8111-111111111111")],
        tokens: 12,
    }
}

fn numbers(ledger: &dyn RecallLedger) -> Vec<i64> {
    let all = RecallFilter::default();
    ledger
        .recalls(&all)
        .map(|recall| (recall.unwrap().at - start()).num_seconds())
        .collect()
}

#[test]
fn a_folder_fulfils_the_contract_of_a_ledger() {
    // A small maximum part size closes files often; the total is never exceeded.
    let homes = RefCell::new(Vec::new());
    for max_size in [UNLIMITED, 1 << 18] {
        recall_ledger_suite(&|| {
            let home = TestHome::new();
            let ledger = RecallFolder::new(home.path(), max_size);
            homes.borrow_mut().push(home);
            Box::new(ledger)
        });
    }
}

#[test]
fn a_recall_is_a_line_that_only_the_owner_can_read() {
    let home = TestHome::new();
    let ledger = ledger(home.path());
    let parts = vec![("words".to_owned(), 0.75), ("coverage".to_owned(), 0.125)];
    let ranked = RecalledId {
        id: "55dc9232-1111-4111-8111-111111111111".into(),
        score: Some(0.875),
        parts,
    };
    record_recall(
        &ledger,
        RecallRecord {
            memories: vec![ranked],
            ..recall(0)
        },
    );
    let sparse = RecallRecord {
        agent: String::new(),
        session: None,
        project: None,
        query: None,
        ..recall(1)
    };
    record_recall(&ledger, sparse);
    insta::assert_snapshot!(fs::read_to_string(home.path().join(FILE)).unwrap(), @r#"
    {"at":"2026-05-07T10:00:00.000Z","agent":"codex","session":"s1","project":"harbour","interface":"mcp","tool":"memory_search","query":"question 0\n","memories":[{"id":"55dc9232-1111-4111-8111-111111111111","score":0.875,"parts":{"coverage":0.125,"words":0.75}}],"tokens":12}
    {"at":"2026-05-07T10:00:01.000Z","interface":"mcp","tool":"memory_search","memories":[{"id":"55dc9232-1111-4111-8111-111111111111"}],"tokens":12}
    "#);
    assert_eq!(
        fs::read_to_string(home.path().join("recalls/since")).unwrap(),
        "2026-05-07T10:00:00.000Z\n"
    );
    let mode = |path: &str| {
        fs::metadata(home.path().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(
        (mode(FILE), mode("recalls"), mode("recalls/since")),
        (0o600, 0o700, 0o600)
    );
}

#[test]
fn damaged_lines_are_skipped_and_reported_and_unknown_keys_are_ignored() {
    let home = TestHome::new();
    let ledger = ledger(home.path());
    record_recall(&ledger, recall(0));
    let whole = fs::read_to_string(home.path().join(FILE)).unwrap();
    let later =
        r#"{"at":"2026-05-07T10:00:02Z","memories":[{"id":"aa","later":1}],"later":{"key":[1]}}"#;
    fs::write(
        home.path().join(FILE),
        format!(
            "{whole}nonsense\n{{\"at\":7}}\n\n{later}\n{}",
            &whole[..whole.len() / 2]
        ),
    )
    .unwrap();
    assert_eq!(
        numbers(&ledger),
        [0, 2],
        "the incomplete line may still be written"
    );
    record_recall(&ledger, recall(3));
    assert_eq!(numbers(&ledger), [0, 2, 3]);
    let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
    let findings = store.doctor(None).unwrap().findings;
    let lines: Vec<_> = findings
        .iter()
        .map(|finding| (finding.code, finding.path.as_str(), finding.line))
        .collect();
    assert_eq!(
        lines,
        [
            ("line_damaged", FILE, Some(2)),
            ("line_damaged", FILE, Some(6))
        ]
    );
    let before = fs::read_to_string(home.path().join(FILE)).unwrap();
    ledger.purge(start() + TimeDelta::seconds(1)).unwrap();
    let after = fs::read_to_string(home.path().join("recalls/2026-05-1.jsonl")).unwrap();
    assert_eq!(
        after,
        before[before.find(later).unwrap()..],
        "the remaining bytes are unchanged"
    );
}

#[test]
fn the_first_record_of_a_month_deletes_those_beyond_the_retention_time() {
    let home = TestHome::new();
    let ledger = ledger(home.path()).retention(Some(TimeDelta::days(30)));
    let days = |number: i64| number * 86_400;
    for number in [0, 20, 40, 60] {
        record_recall(&ledger, recall(days(number)));
    }
    // 7 May, 27 May, 16 June, 6 July: each of the last two is the first of its month.
    assert_eq!(numbers(&ledger), [40, 60].map(days));
    assert_eq!(
        ledger.complete_since().unwrap(),
        Some(start() + TimeDelta::days(30))
    );
}

#[test]
fn the_oldest_files_are_deleted_beyond_the_maximum_size() {
    let home = TestHome::new();
    let max_size = 4_000;
    let ledger = RecallFolder::new(home.path(), max_size);
    for number in 0..200 {
        record_recall(&ledger, recall(number));
        let size: u64 = home
            .files("recalls")
            .into_values()
            .map(|bytes| bytes.len() as u64)
            .sum();
        assert!(size <= max_size + 300, "{number}: {size}");
    }
    let left = numbers(&ledger);
    assert!(
        left.len() < 30 && left.ends_with(&[197, 198, 199]),
        "{left:?}"
    );
    assert_eq!(
        left,
        (left[0]..200).collect::<Vec<_>>(),
        "no record between others is lost"
    );
    assert_eq!(
        ledger.complete_since().unwrap(),
        Some(start() + TimeDelta::seconds(left[0] - 1))
    );
}

#[test]
fn nothing_is_recorded_without_a_home_and_the_home_is_not_created() {
    let home = TestHome::new();
    let root = home.path().join("none");
    let ledger = ledger(&root);
    let error = ledger.record(&recall(0).redacted()).unwrap_err();
    assert_eq!(error.to_string(), "cannot write to recalls");
    assert_eq!(
        (
            numbers(&ledger),
            ledger.complete_since().unwrap(),
            ledger.purge(start()).unwrap()
        ),
        (vec![], None, 0)
    );
    assert!(!root.exists());
}

#[test]
fn a_folder_that_is_a_symlink_is_refused() {
    let (home, elsewhere) = (TestHome::new(), TestHome::new());
    std::os::unix::fs::symlink(elsewhere.path(), home.path().join("recalls")).unwrap();
    let error = ledger(home.path())
        .record(&recall(0).redacted())
        .unwrap_err();
    assert_eq!(error.code(), Code::PathRefused, "{error:?}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// A failure at any step loses at most the record of that step, and other records remain readable.
#[test]
fn a_failure_at_any_step_loses_only_its_record() {
    for fault in [
        DiskFault::FULL,
        DiskFault::Fails(13),
        DiskFault::Fails(30),
        DiskFault::Dies,
    ] {
        let mut at = 1;
        loop {
            let home = TestHome::new();
            record_recall(&ledger(home.path()), recall(-1));
            let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
            let faulty = RecallFolder::with_disk(Arc::new(disk), home.path().to_owned(), 2_000);
            let mut recorded = vec![-1];
            for number in 0..6 {
                // The failure may come after the record, when the file is closed.
                if faulty.record(&recall(number).redacted()).is_ok() {
                    recorded.push(number);
                }
            }
            let _ = faulty.purge(start());
            let found = numbers(&ledger(home.path()));
            for number in recorded.iter().filter(|number| 0 <= **number) {
                assert!(
                    found.contains(number),
                    "{fault:?} at {at}: {number} of {found:?}"
                );
            }
            record_recall(&ledger(home.path()), recall(9));
            assert!(
                numbers(&ledger(home.path())).contains(&9),
                "{fault:?} at {at}: recording goes on"
            );
            if steps.load(Ordering::Relaxed) < at {
                break;
            }
            at += 1;
        }
        assert!(6 < at, "there are steps to fail at: {at}");
    }
}

/// Environment variable with the home of a process that records.
const TASK: &str = "MEMORY_TEST_RECORDER";
const RECORDERS: u32 = 6;
const RECORDS: i64 = 200;

/// A process that records, on its own or started by the test below.
#[test]
fn a_process_records_its_recalls() {
    if let Ok(task) = std::env::var(TASK) {
        let (home, name) = task.split_once(' ').unwrap();
        return record_repeatedly(Path::new(home), name);
    }
    let home = TestHome::new();
    record_repeatedly(home.path(), "alone");
    assert_eq!(
        numbers(&ledger(home.path())),
        (0..RECORDS).collect::<Vec<_>>()
    );
}

fn record_repeatedly(home: &Path, name: &str) {
    // Files are closed while others record, but none is deleted.
    let ledger = RecallFolder::new(home, 1 << 20);
    for number in 0..RECORDS {
        record_recall(
            &ledger,
            RecallRecord {
                agent: name.into(),
                ..recall(number)
            },
        );
    }
}

#[test]
fn processes_that_record_at_once_append_whole_lines_and_lose_none() {
    let home = TestHome::new();
    let recorders: Vec<_> = (0..RECORDERS)
        .map(|number| start_recorder(&home, number))
        .collect();
    for recorder in recorders {
        let output = recorder.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let ledger = ledger(home.path());
    for number in 0..RECORDERS {
        let filter = RecallFilter {
            agent: Some(format!("agent{number}")),
            ..RecallFilter::default()
        };
        assert_eq!(
            ledger.recalls(&filter).count(),
            usize::try_from(RECORDS).unwrap(),
            "agent{number}"
        );
    }
    let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
    let repair = Operation {
        verb: Verb::Repair,
        ..home.services().operation(Verb::Repair)
    };
    assert_eq!(store.doctor(Some(&repair)).unwrap().findings, []);
}

fn start_recorder(home: &TestHome, number: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "recalls::a_process_records_its_recalls",
            "--nocapture",
        ])
        .env(TASK, format!("{} agent{number}", home.path().display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}
