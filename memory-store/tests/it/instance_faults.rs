//! Every change of a session or value on a faulty disk takes effect completely or not at all.
//!
//! The disk fails or dies at every step.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memory_core::instance::history::{
    self, Messages, RecordDraft, RecordFilter, SessionName, SessionRecord, Window, append,
};
use memory_core::instance::kv::{self, KeyValues, get, set};
use memory_core::instance::{InstanceError, InstanceRecord};
use memory_core::secret::Checked;
use memory_core::testing::{messages, values};
use memory_core::{Operation, SecretPolicy, Verb};
use memory_store::RandomIds;
use memory_store::disk::RealDisk;
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use tempfile::TempDir;

use crate::faulty_disk::{DiskFault, FaultyDisk, run_fault_table};

const NAMES: [&str; 7] = ["s", "new", "torn", "imported", "purged", "deleted", "back"];

fn session(text: &str) -> SessionName {
    text.parse().unwrap()
}

fn draft(role: &str, content: &str) -> RecordDraft {
    RecordDraft::from_text(role.parse().unwrap(), content)
}

/// Opens sessions with random ids, as a separate process does.
fn open(store: HistoryFolder) -> Messages {
    Messages {
        ids: Arc::new(RandomIds),
        ..messages(Arc::new(store)).0
    }
}

/// Opens values with random ids, as a separate process does.
fn open_values(store: ValueFolder) -> KeyValues {
    KeyValues {
        ids: Arc::new(RandomIds),
        ..values(Arc::new(store))
    }
}

fn tools() -> RecordFilter {
    RecordFilter {
        roles: vec!["tool".parse().unwrap()],
        ..RecordFilter::default()
    }
}

type SessionChangeFn = fn(&Messages) -> Result<(), InstanceError>;

const CHANGES: [(&str, SessionChangeFn); 11] = [
    ("append", |all| {
        append(
            all,
            &session("s"),
            &draft("user", "new"),
            SecretPolicy::Refuse,
        )
        .map(drop)
    }),
    ("append to a new session", |all| {
        append(
            all,
            &session("new"),
            &draft("user", "new"),
            SecretPolicy::Refuse,
        )
        .map(drop)
    }),
    ("append behind what was cut off", |all| {
        append(
            all,
            &session("torn"),
            &draft("user", "new"),
            SecretPolicy::Refuse,
        )
        .map(drop)
    }),
    ("import into a new session", |all| import(all, "new")),
    ("import into a session", |all| import(all, "s")),
    ("undo of an import", |all| {
        history::undo(
            all,
            Some(&last_session_operation(all, "imported", Verb::Ingest)?),
        )
        .map(drop)
    }),
    ("purge", |all| {
        history::purge(all, &session("s"), &tools()).map(drop)
    }),
    ("delete", |all| {
        history::delete(all, &session("s")).map(drop)
    }),
    ("undo of a purge", |all| {
        history::undo(
            all,
            Some(&last_session_operation(all, "purged", Verb::Purge)?),
        )
        .map(drop)
    }),
    ("undo of a delete", |all| {
        history::undo(
            all,
            Some(&last_session_operation(all, "deleted", Verb::Delete)?),
        )
        .map(drop)
    }),
    ("undo of an undo", |all| {
        history::undo(all, Some(&last_session_operation(all, "back", Verb::Undo)?)).map(drop)
    }),
];

/// Replaces the records of a session as an ingestion does.
fn import(all: &Messages, name: &str) -> Result<(), InstanceError> {
    let records =
        ["user", "tool"].map(|role| SessionRecord::imported(&draft(role, "imported")).unwrap());
    let operation = Operation::new(Verb::Ingest, "", all.clock.as_ref(), all.ids.as_ref());
    all.store.replace(
        &session(name),
        Checked::allowed(records.as_slice()),
        &operation,
    )
}

/// Returns the id of the last operation on a session with this verb.
fn last_session_operation(
    all: &Messages,
    session: &str,
    verb: Verb,
) -> Result<String, InstanceError> {
    let records = history::operations(all, usize::MAX)?;
    Ok(records
        .into_iter()
        .find(|one| one.subject.name == session && one.operation.verb == verb)
        .unwrap()
        .operation
        .id
        .to_string())
}

fn prepare(home: &Path) {
    let all = open(HistoryFolder::new(home));
    for number in 0..4 {
        let role = if number % 2 == 0 { "user" } else { "tool" };
        append(
            &all,
            &session("s"),
            &draft(role, &number.to_string()),
            SecretPolicy::Refuse,
        )
        .unwrap();
    }
    let torn = "{\"ts\":\"2026-05-07T10:00:00Z\",\"role\":\"user\",\"content\":\"whole\"}\n{\"ts\":\"2026-05-07T1";
    std::fs::write(home.join("torn.jsonl"), torn).unwrap();
    for name in ["purged", "deleted", "back"] {
        for role in ["user", "tool"] {
            append(
                &all,
                &session(name),
                &draft(role, role),
                SecretPolicy::Refuse,
            )
            .unwrap();
        }
    }
    import(&all, "imported").unwrap();
    history::purge(&all, &session("purged"), &tools()).unwrap();
    history::delete(&all, &session("deleted")).unwrap();
    history::delete(&all, &session("back")).unwrap();
    history::undo(&all, None).unwrap();
}

/// Returns the content of the sessions, as a later process reads it.
fn session_state(home: &Path) -> Vec<String> {
    let all = open(HistoryFolder::new(home));
    let content = |record: &SessionRecord| {
        record.text().to_value()["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut held = Vec::new();
    for name in NAMES {
        let reading = history::read(
            &all,
            &session(name),
            &RecordFilter::default(),
            Window::default(),
        )
        .unwrap();
        held.push(format!(
            "{name}: {:?}",
            reading.records.iter().map(content).collect::<Vec<_>>()
        ));
    }
    // The log must contain exactly the operations that were carried out.
    for record in history::operations(&all, usize::MAX).unwrap() {
        let state = if record.undone_by.is_some() {
            ", taken back"
        } else {
            ""
        };
        held.push(format!(
            "{} {}{state}",
            record.operation.verb.as_str(),
            record.subject.name
        ));
    }
    held
}

/// Runs `change` on a disk with `fault` at step `at`.
///
/// Returns the folder, whether it succeeded, and its number of steps.
fn run(change: SessionChangeFn, fault: DiskFault, at: u64) -> (TempDir, bool, u64) {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
    let clock = disk.clock();
    let all = Messages {
        clock,
        ..open(HistoryFolder::with_disk(home.path(), Arc::new(disk)))
    };
    let acknowledged = change(&all).is_ok();
    (home, acknowledged, steps.load(Ordering::Relaxed))
}

fn check(what: &str, change: SessionChangeFn, fault: DiskFault) -> u64 {
    let (untouched, ..) = run(|_| Ok(()), DiskFault::Dies, u64::MAX);
    let before = session_state(untouched.path());
    let (whole, acknowledged, _) = run(change, DiskFault::Dies, u64::MAX);
    assert!(acknowledged, "{what} works on a disk that works");
    let after = session_state(whole.path());
    let (.., steps) = run(change, fault, u64::MAX);
    for at in fault.steps(what, steps) {
        let (home, acknowledged, _) = run(change, fault, at);
        let now = session_state(home.path());
        assert!(
            now == before || now == after,
            "{what}, {fault:?} at step {at} is half done: {now:#?}"
        );
        assert!(
            now == after || !acknowledged,
            "{what}, {fault:?} at step {at} was acknowledged and is lost"
        );
        // Later operations must work as usual.
        let all = open(HistoryFolder::new(home.path()));
        for name in NAMES {
            append(
                &all,
                &session(name),
                &draft("user", "next"),
                SecretPolicy::Refuse,
            )
            .unwrap();
            let reading = history::read(
                &all,
                &session(name),
                &RecordFilter::default(),
                Window::default(),
            )
            .unwrap();
            assert_eq!(
                reading.damaged.len(),
                0,
                "{what}, {fault:?} at step {at}: nothing torn is left in {name}"
            );
        }
        history::purge(&all, &session("s"), &tools()).unwrap();
        history::undo(&all, None).unwrap();
        let done = history::operations(&all, usize::MAX).unwrap();
        for record in done
            .iter()
            .filter(|one| one.operation.verb != Verb::Undo && one.undone_by.is_none())
        {
            history::undo(&all, Some(record.operation.id.as_str())).unwrap();
        }
        let whole = history::read(&all, &session("s"), &tools(), Window::default()).unwrap();
        assert_eq!(
            whole.records.len(),
            2,
            "{what}, {fault:?} at step {at}: all comes back"
        );
    }
    steps
}

#[test]
fn a_fault_at_any_step_leaves_every_change_of_a_session_whole_or_undone() {
    run_fault_table(&CHANGES, &DiskFault::ALL, check);
}

#[test]
fn what_was_purged_deleted_or_cut_off_is_kept_whole() {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let text = |name: &str| std::fs::read(home.path().join(name)).unwrap();
    let (before_purge, torn) = (text("s.jsonl"), text("torn.jsonl"));
    let all = open(HistoryFolder::new(home.path()));
    history::purge(&all, &session("s"), &tools()).unwrap();
    let before_delete = text("s.jsonl");
    history::delete(&all, &session("s")).unwrap();
    let appended = append(
        &all,
        &session("torn"),
        &draft("user", "new"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let set_aside = appended.set_aside.expect("it is named");
    assert!(torn.ends_with(&std::fs::read(&set_aside).unwrap()));
    assert!(
        text("torn.jsonl")
            .starts_with(&torn[..torn.len() - std::fs::read(&set_aside).unwrap().len()])
    );
    let month = home.path().join(".trash/2026-05");
    let folders = std::fs::read_dir(month)
        .unwrap()
        .map(|operation| operation.unwrap().path());
    let files = folders.flat_map(|folder| {
        std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path())
    });
    let kept: Vec<_> = files.map(|file| std::fs::read(file).unwrap()).collect();
    let mut expected = vec![
        before_purge,
        before_delete,
        std::fs::read(&set_aside).unwrap(),
    ];
    expected.retain(|one| !kept.contains(one));
    assert_eq!(expected, [b""; 0]);
}

#[test]
fn an_append_is_one_sync() {
    let home = tempfile::tempdir().unwrap();
    let (disk, _) = FaultyDisk::new(
        RealDisk::open(home.path()).unwrap(),
        DiskFault::Dies,
        u64::MAX,
    );
    let syncs = disk.sync_counter();
    let all = open(HistoryFolder::with_disk(home.path(), Arc::new(disk)));
    append(
        &all,
        &session("s"),
        &draft("user", "first"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let first = syncs.load(Ordering::Relaxed);
    append(
        &all,
        &session("s"),
        &draft("user", "second"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(syncs.load(Ordering::Relaxed) - first, 1);
}

type ValueChangeFn = fn(&KeyValues) -> Result<(), InstanceError>;

const ACTS: [(&str, ValueChangeFn); 7] = [
    ("set of a new key", |all| {
        set(all, &"new/deep/key".parse()?, "1", SecretPolicy::Refuse).map(drop)
    }),
    ("set of a known key", |all| {
        set(all, &"a/b".parse()?, "2", SecretPolicy::Refuse).map(drop)
    }),
    ("set of a long value", |all| {
        set(all, &"long".parse()?, "2", SecretPolicy::Refuse).map(drop)
    }),
    ("delete", |all| kv::delete(all, &"a/b".parse()?)),
    ("undo of a set", |all| {
        kv::undo(
            all,
            Some(&last_value_operation(all, "replaced", Verb::Set)?),
        )
        .map(drop)
    }),
    ("undo of a delete", |all| {
        kv::undo(
            all,
            Some(&last_value_operation(all, "deep/deleted", Verb::Delete)?),
        )
        .map(drop)
    }),
    ("undo of an undo", |all| {
        kv::undo(all, Some(&last_value_operation(all, "back", Verb::Undo)?)).map(drop)
    }),
];

/// Returns the id of the last operation on a key with this verb.
fn last_value_operation(all: &KeyValues, key: &str, verb: Verb) -> Result<String, InstanceError> {
    let records = kv::operations(all, usize::MAX)?;
    Ok(records
        .into_iter()
        .find(|one| one.subject.name == key && one.operation.verb == verb)
        .unwrap()
        .operation
        .id
        .to_string())
}

/// Runs `act` on two disks, each with `fault` at its own step of `at`.
///
/// The first disk contains the values, and the second one the previous values.
fn run_on_values(act: ValueChangeFn, fault: DiskFault, at: [u64; 2]) -> (TempDir, bool, [u64; 2]) {
    let home = tempfile::tempdir().unwrap();
    let (root, state) = (home.path().join("kv"), home.path().join("state"));
    let all = open_values(ValueFolder::new(&root, &state));
    set(&all, &"a/b".parse().unwrap(), "1", SecretPolicy::Refuse).unwrap();
    set(
        &all,
        &"long".parse().unwrap(),
        &"x".repeat(100_000),
        SecretPolicy::Refuse,
    )
    .unwrap();
    for key in ["replaced", "deep/deleted", "back"] {
        set(&all, &key.parse().unwrap(), "1", SecretPolicy::Refuse).unwrap();
    }
    set(
        &all,
        &"replaced".parse().unwrap(),
        &"2".repeat(70_000),
        SecretPolicy::Refuse,
    )
    .unwrap();
    kv::delete(&all, &"deep/deleted".parse().unwrap()).unwrap();
    kv::delete(&all, &"back".parse().unwrap()).unwrap();
    kv::undo(&all, None).unwrap();
    let (disk, steps) = FaultyDisk::new(RealDisk::open(&root).unwrap(), fault, at[0]);
    let (kept, more) = FaultyDisk::new(RealDisk::open(&state).unwrap(), fault, at[1]);
    let clock = disk.clock();
    let all = KeyValues {
        clock,
        ..open_values(ValueFolder::with_disks(
            &root,
            Arc::new(disk),
            Arc::new(kept),
        ))
    };
    let acknowledged = act(&all).is_ok();
    (
        home,
        acknowledged,
        [steps.load(Ordering::Relaxed), more.load(Ordering::Relaxed)],
    )
}

fn value_state(home: &Path) -> Vec<String> {
    let all = open_values(ValueFolder::new(home.join("kv"), home.join("state")));
    let keys = kv::list(&all, &"".parse().unwrap()).unwrap();
    let mut held: Vec<_> = keys
        .iter()
        .map(|one| format!("{}={}", one.key, get(&all, &one.key).unwrap().text))
        .collect();
    // The log must contain exactly the operations that were carried out.
    for record in kv::operations(&all, usize::MAX).unwrap() {
        let state = if record.undone_by.is_some() {
            ", taken back"
        } else {
            ""
        };
        held.push(format!(
            "{} {}{state}",
            record.operation.verb.as_str(),
            record.subject.name
        ));
    }
    held
}

fn check_values(what: &str, act: ValueChangeFn, fault: DiskFault) -> u64 {
    let (untouched, ..) = run_on_values(|_| Ok(()), DiskFault::Dies, [u64::MAX; 2]);
    let before = value_state(untouched.path());
    let (whole, acknowledged, _) = run_on_values(act, DiskFault::Dies, [u64::MAX; 2]);
    assert!(acknowledged, "{what} works on disks that work");
    let after = value_state(whole.path());
    let (.., steps) = run_on_values(act, fault, [u64::MAX; 2]);
    let first = fault.steps(what, steps[0]).map(|at| [at, u64::MAX]);
    let cuts = first.chain(fault.steps(what, steps[1]).map(|at| [u64::MAX, at]));
    for at in cuts {
        let (home, acknowledged, _) = run_on_values(act, fault, at);
        let now = value_state(home.path());
        assert!(
            now == before || now == after,
            "{what}, {fault:?} at step {at:?} is half done: {now:#?}"
        );
        assert!(
            now == after || !acknowledged,
            "{what}, {fault:?} at step {at:?} was acknowledged and is lost"
        );
        let all = open_values(ValueFolder::new(
            home.path().join("kv"),
            home.path().join("state"),
        ));
        set(&all, &"next".parse().unwrap(), "1", SecretPolicy::Refuse).unwrap();
        assert!(
            !home.path().join("kv/.next~").exists(),
            "{what}, {fault:?} at step {at:?} leaves something behind"
        );
        let lost = kv::operations(&all, usize::MAX).unwrap();
        let is_first = |at: usize| {
            lost[at + 1..]
                .iter()
                .all(|earlier| earlier.subject != lost[at].subject)
        };
        let is_open =
            |one: &InstanceRecord| one.operation.verb != Verb::Undo && one.undone_by.is_none();
        for (_, record) in lost
            .iter()
            .enumerate()
            .filter(|(at, one)| is_open(one) && !is_first(*at))
        {
            kv::undo(&all, Some(record.operation.id.as_str())).unwrap();
        }
        assert_eq!(
            get(&all, &"a/b".parse().unwrap()).unwrap().text,
            "1",
            "{what}, {fault:?} at step {at:?}"
        );
    }
    steps[0] + steps[1]
}

#[test]
fn a_fault_at_any_step_leaves_every_value_as_it_was_or_as_it_was_set() {
    run_fault_table(&ACTS, &DiskFault::ALL, check_values);
}
