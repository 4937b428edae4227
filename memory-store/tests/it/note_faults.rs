//! Every operation on a disk that fails or dies at every step takes effect completely or not at all.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use memory_core::{
    Category, Draft, Filter, IdSource, ListOrder, PageRequest, Patch, SecretPolicy, Services,
    StoreError, Tags, delete, ingest, link, list, remind, remind_of_memory, restore, tag,
    testing::{CountingIds, FakeSource, copy_folder},
    undo, update, upgrade, write,
};
use memory_store::disk::RealDisk;
use memory_store::{FileStore, FileStoreOptions};

use crate::faulty_disk::{DiskFault, FaultyDisk, run_fault_table};
use crate::home::{TestHome, assert_texts_exist, repeatable_services, save_all};

type NoteOperationFn = fn(&Services, &PreparedNotes) -> Result<(), StoreError>;

/// The memories in a home before an operation.
struct PreparedNotes {
    home: TestHome,
    first: String,
    second: String,
    deleted: String,
}

const OPERATIONS: [(&str, NoteOperationFn); 13] = [
    ("write", |services, _| {
        write(services, Draft::new("something new"), SecretPolicy::Refuse).map(drop)
    }),
    ("update", |services, prepared| {
        let patch = Patch {
            content: Some("changed".into()),
            ..Patch::default()
        };
        update(
            services,
            &prepared.first,
            &patch,
            None,
            SecretPolicy::Refuse,
        )
        .map(drop)
    }),
    ("tag", |services, prepared| {
        tag(
            services,
            &prepared.first,
            ["x"].iter().collect(),
            Tags::default(),
        )
        .map(drop)
    }),
    ("upgrade", |services, prepared| {
        upgrade(services, &prepared.first, Some(Category::Skills)).map(drop)
    }),
    ("delete", |services, prepared| {
        delete(services, &prepared.first).map(drop)
    }),
    ("delete with a reminder", |services, prepared| {
        delete(services, &prepared.second).map(drop)
    }),
    ("remind", |services, _| {
        remind(
            services,
            Draft::new("call Anna"),
            Some(far_future().into()),
            &Utc,
            SecretPolicy::Refuse,
        )
        .map(drop)
    }),
    ("link", |services, prepared| {
        link(services, &prepared.first, &prepared.second).map(drop)
    }),
    ("restore", |services, prepared| {
        restore(services, &prepared.deleted).map(drop)
    }),
    ("undo of a delete", |services, _| {
        undo(services, None).map(drop)
    }),
    ("undo of a link", |services, _| {
        let records = services.history.records().collect::<Result<Vec<_>, _>>()?;
        let linked = records
            .into_iter()
            .find(|record| record.subject.count == 2)
            .expect("two were linked");
        undo(services, Some(linked.operation.id.as_str())).map(drop)
    }),
    ("ingest", |services, _| {
        let names: Vec<_> = (0..12)
            .map(|number| (format!("{number:02}.md"), format!("note {number}")))
            .collect();
        let notes: Vec<_> = names
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        ingest(
            services,
            &FakeSource::with_notes(&notes),
            &memory_core::IngestOptions::default(),
            &mut |_| (),
        )
        .map(drop)
        .map_err(|error| match error {
            memory_core::IngestError::Store(error) => error,
            memory_core::IngestError::Sessions(error) => panic!("there are no sessions: {error}"),
        })
    }),
    ("purge", |services, _| {
        services
            .history
            .purge(services.clock.now() + chrono::TimeDelta::days(1))
            .map(drop)
    }),
];

fn far_future() -> DateTime<Utc> {
    DateTime::from_timestamp(4_000_000_000, 0).unwrap()
}

fn prepare() -> PreparedNotes {
    let home = TestHome::new();
    let services =
        repeatable_services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
    let put = |text: &str| {
        write(&services, Draft::new(text), SecretPolicy::Refuse)
            .unwrap()
            .id
            .to_string()
    };
    let (first, second, deleted) = (
        put("first, with several words"),
        put("second"),
        put("third"),
    );
    let (fourth, fifth) = (put("fourth"), put("fifth"));
    link(&services, &fourth, &fifth).unwrap();
    remind_of_memory(&services, &second, Some(far_future().into()), &Utc).unwrap();
    delete(&services, &deleted).unwrap();
    PreparedNotes {
        home,
        first,
        second,
        deleted,
    }
}

/// Runs `act` on a copy of a home with a disk that has `fault` at step `at`.
///
/// Returns the home, whether `act` succeeded, and its number of steps.
fn run(
    prepared: &PreparedNotes,
    act: NoteOperationFn,
    fault: DiskFault,
    at: u64,
) -> (TestHome, bool, u64) {
    let home = TestHome::new();
    copy_folder(prepared.home.path(), home.path());
    let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
    let ids = Arc::new(CountingIds::default());
    // Skip the ids that the preparation used.
    (0..20).for_each(|_| drop(ids.operation_id()));
    let clock = disk.clock();
    let store = FileStore::on_disk(Arc::new(disk), home.path(), FileStoreOptions::default());
    let acknowledged = act(
        &Services {
            ids,
            clock,
            ..repeatable_services(store)
        },
        prepared,
    )
    .is_ok();
    let steps = steps.load(Ordering::Relaxed);
    (home, acknowledged, steps)
}

/// Returns the state of a home, as a later process reads it.
fn state(home: &TestHome) -> Vec<String> {
    let services = home.services();
    let slice = PageRequest {
        order: ListOrder::Title,
        offset: 0,
        limit: None,
    };
    let page = list(&services, &Filter::all(), &slice).unwrap();
    let mut lines: Vec<_> = page
        .memories
        .into_iter()
        .map(|stored| {
            assert_eq!(stored.problem, None);
            let memory = stored.memory;
            format!(
                "{} {:?} {:?} {:?} v{}",
                memory.content, memory.category, memory.tags, memory.links, memory.version
            )
        })
        .collect();
    lines.sort();
    lines
}

fn check(prepared: &PreparedNotes, name: &str, act: NoteOperationFn, fault: DiskFault) -> u64 {
    let (untouched, ..) = run(prepared, |_, _| Ok(()), DiskFault::Dies, u64::MAX);
    let before = state(&untouched);
    let (whole, acknowledged, _) = run(prepared, act, DiskFault::Dies, u64::MAX);
    assert!(acknowledged, "{name} works on a disk that works");
    let after = state(&whole);
    let (.., steps) = run(prepared, act, fault, u64::MAX);
    for at in fault.steps(name, steps) {
        let (home, acknowledged, _) = run(prepared, act, fault, at);
        let read = state(&home);
        write(
            &home.services(),
            Draft::new("the next command works"),
            SecretPolicy::Refuse,
        )
        .unwrap_or_else(|error| panic!("{name}, {fault:?} at step {at}: then {error}"));
        undo(&home.services(), None).unwrap();
        let now = state(&home);
        assert_eq!(
            read, now,
            "{name}, {fault:?} at step {at}: the next writer changes what a reader saw"
        );
        let is_whole = now == after;
        assert!(
            is_whole || now == before,
            "{name}, {fault:?} at step {at} is half done: {now:#?} {after:#?}"
        );
        assert!(
            is_whole || !acknowledged,
            "{name}, {fault:?} at step {at} was acknowledged and is lost"
        );
        assert_eq!(
            home.leftovers(),
            Vec::<String>::new(),
            "{name}, {fault:?} at step {at} leaves something behind"
        );
    }
    steps
}

#[test]
fn a_fault_at_any_step_leaves_every_operation_whole_or_undone() {
    let prepared = prepare();
    run_fault_table(&OPERATIONS, &DiskFault::ALL, |name, act, fault| {
        check(&prepared, name, act, fault)
    });
}

#[test]
fn what_another_program_saves_before_any_step_is_lost_nowhere() {
    let prepared = prepare();
    for (name, act) in OPERATIONS {
        for at in 1.. {
            let home = TestHome::new();
            copy_folder(prepared.home.path(), home.path());
            let (folder, saved) = (
                home.path().join("categories"),
                Arc::<Mutex<Vec<String>>>::default(),
            );
            let notes = Arc::clone(&saved);
            let save = move || notes.lock().unwrap().extend(save_all(&folder));
            let (disk, steps) =
                FaultyDisk::with_concurrent_saves(RealDisk::open(home.path()).unwrap(), at, save);
            let ids = Arc::new(CountingIds::default());
            (0..20).for_each(|_| drop(ids.operation_id()));
            let store =
                FileStore::on_disk(Arc::new(disk), home.path(), FileStoreOptions::default());
            let done = act(
                &Services {
                    ids,
                    ..repeatable_services(store)
                },
                &prepared,
            );
            if steps.load(Ordering::Relaxed) < at {
                break;
            }
            let when = format!("{name}, saved before step {at}, {done:?}");
            assert_texts_exist(&saved.lock().unwrap(), home.path(), &when);
            assert_eq!(home.leftovers(), Vec::<String>::new(), "{when}");
            write(
                &home.services(),
                Draft::new("the next command works"),
                SecretPolicy::Refuse,
            )
            .unwrap();
        }
    }
}

#[test]
fn a_power_cut_while_an_operation_is_taken_back_changes_nothing() {
    let prepared = prepare();
    let (_, act) = OPERATIONS[7];
    let (untouched, ..) = run(&prepared, |_, _| Ok(()), DiskFault::Dies, u64::MAX);
    let (whole, _, steps) = run(&prepared, act, DiskFault::Dies, u64::MAX);
    let (before, after) = (state(&untouched), state(&whole));
    for at in 1..=steps {
        for again in 1.. {
            let (home, ..) = run(&prepared, act, DiskFault::Dies, at);
            let (disk, taken) =
                FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, again);
            let store =
                FileStore::on_disk(Arc::new(disk), home.path(), FileStoreOptions::default());
            // A purge without effect only recovers from an interrupted operation.
            let _ = repeatable_services(store)
                .history
                .purge(chrono::DateTime::UNIX_EPOCH);
            if taken.load(Ordering::Relaxed) < again {
                break;
            }
            home.services()
                .history
                .purge(chrono::DateTime::UNIX_EPOCH)
                .unwrap();
            let now = state(&home);
            assert!(
                now == before || now == after,
                "a cut at step {at}, then at step {again}: half done: {now:#?}"
            );
            assert_eq!(
                home.leftovers(),
                Vec::<String>::new(),
                "a cut at step {at}, then at step {again}"
            );
        }
    }
}

#[test]
fn an_undo_that_died_is_done_by_the_next_and_no_other_operation_is_undone() {
    let prepared = prepare();
    let take_back: NoteOperationFn = |services, _| undo(services, None).map(drop);
    let (whole, _, steps) = run(&prepared, take_back, DiskFault::Dies, u64::MAX);
    let expected = state(&whole);
    for at in 1..=steps {
        let (home, acknowledged, _) = run(&prepared, take_back, DiskFault::Dies, at);
        if !acknowledged {
            let undone = undo(&home.services(), None).unwrap();
            // If the interrupted undo was complete, this call undid the next operation, a link, and must be undone
            // itself.
            if undone.record.operation.verb != memory_core::Verb::Delete {
                undo(&home.services(), Some(undone.undo.as_str())).unwrap();
            }
        }
        assert_eq!(state(&home), expected, "at step {at}");
    }
}
