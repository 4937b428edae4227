//! Every change of conversations on a disk that fails or dies at every step.
//!
//! Afterwards each entry is active or a tombstone, acknowledged changes are complete, and a repetition applies each
//! change once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::{DateTime, TimeDelta};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationStore, EntryChange, EntryRole, Job, JobQueue,
    JobState, summary_entry,
};
use memory_core::secret::Checked;
use memory_core::{IdSource, testing::CountingIds};
use memory_store::conversation::{ConversationFolder, JobFile};
use memory_store::disk::RealDisk;

use crate::faulty_disk::{DiskFault, FaultyDisk};

fn id() -> ConversationId {
    ConversationId::default_conversation()
}

fn entry(name: &str) -> ConversationEntry {
    ConversationEntry::new(
        name.parse().unwrap(),
        &id(),
        EntryRole::Memory,
        name,
        DateTime::UNIX_EPOCH,
    )
}

fn changes() -> Vec<EntryChange> {
    let delete = |name: &str, by: Option<&str>| EntryChange::Delete {
        id: entry(name).id,
        replaced_by: by.map(|by| entry(by).id),
    };
    vec![
        EntryChange::Add(entry("new-1")),
        EntryChange::Add(entry("new-2")),
        delete("old-1", Some("new-1")),
        delete("old-2", None),
        EntryChange::Add(summary_entry(
            &id(),
            "new summary",
            DateTime::UNIX_EPOCH + TimeDelta::days(1),
        )),
    ]
}

fn prepare(home: &Path) {
    let store = ConversationFolder::new(home);
    let mut changes: Vec<_> = ["old-1", "old-2", "old-3"]
        .map(|name| EntryChange::Add(entry(name)))
        .to_vec();
    changes.push(EntryChange::Add(summary_entry(
        &id(),
        "old summary",
        DateTime::UNIX_EPOCH,
    )));
    store.commit(&id(), Checked::allowed(&changes)).unwrap();
}

fn active(home: &Path) -> Vec<String> {
    let shelf = ConversationFolder::new(home).read(&id()).unwrap();
    assert_eq!(shelf.problems().count(), 0);
    shelf
        .entries()
        .iter()
        .chain(shelf.summary())
        .map(|entry| entry.content.clone())
        .collect()
}

fn deleted(home: &Path) -> Vec<String> {
    let told = |entry: ConversationEntry| {
        entry.content
            + &entry
                .replaced_by
                .map_or_else(String::new, |by| format!(" for {by}"))
    };
    ConversationFolder::new(home)
        .deleted(&id())
        .unwrap()
        .into_iter()
        .map(told)
        .collect()
}

#[test]
fn at_whichever_step_the_disk_fails_no_entry_is_lost_and_asking_again_ends_well() {
    for &fault in DiskFault::disk_faults() {
        let mut at = 0;
        loop {
            at += 1;
            let home = tempfile::tempdir().unwrap();
            prepare(home.path());
            let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
            let done = ConversationFolder::with_disk(home.path(), Arc::new(disk))
                .commit(&id(), Checked::allowed(&changes()));
            let (kept, gone) = (active(home.path()), deleted(home.path()));
            for name in ["old-1", "old-2", "old-3", "old summary"] {
                let is_there = kept.iter().chain(&gone).any(|text| text.starts_with(name));
                assert!(
                    is_there,
                    "{fault:?} at step {at} loses {name}: {kept:?} {gone:?}"
                );
            }
            // An entry is not deleted before its replacement exists.
            assert!(
                kept.contains(&"old-1".into()) || kept.contains(&"new-1".into()),
                "{fault:?} at step {at}: {kept:?}"
            );
            if done.is_ok() || steps.load(Ordering::Relaxed) < at {
                assert_eq!(
                    kept,
                    ["new-1", "new-2", "old-3", "new summary"],
                    "{fault:?} at step {at}"
                );
            }
            ConversationFolder::new(home.path())
                .commit(&id(), Checked::allowed(&changes()))
                .unwrap();
            assert_eq!(
                active(home.path()),
                ["new-1", "new-2", "old-3", "new summary"],
                "{fault:?} at step {at}"
            );
            let mut gone = deleted(home.path());
            gone.sort();
            assert_eq!(
                gone,
                ["old summary", "old-1 for new-1", "old-2"],
                "{fault:?} at step {at}"
            );
            if steps.load(Ordering::Relaxed) < at {
                break;
            }
        }
        assert!(10 < at);
    }
}

#[test]
fn what_is_there_already_is_made_durable_when_it_is_asked_for_again() {
    let home = tempfile::tempdir().unwrap();
    let add = [EntryChange::Add(entry("new"))];
    ConversationFolder::new(home.path())
        .commit(&id(), Checked::allowed(&add))
        .unwrap();
    // The first attempt may have failed at the sync.
    let (disk, _) = FaultyDisk::new(
        RealDisk::open(home.path()).unwrap(),
        DiskFault::Dies,
        u64::MAX,
    );
    let syncs = disk.sync_counter();
    ConversationFolder::with_disk(home.path(), Arc::new(disk))
        .commit(&id(), Checked::allowed(&add))
        .unwrap();
    assert_eq!(
        (syncs.load(Ordering::Relaxed), active(home.path())),
        (1, vec!["new".into()])
    );
}

#[test]
fn a_job_that_was_added_survives_and_one_that_was_not_harms_no_other() {
    let ids = CountingIds::default();
    let job = |name: &str| Job {
        id: ids.operation_id(),
        conversation: id(),
        turn: name.parse().unwrap(),
        at: DateTime::UNIX_EPOCH,
    };
    for &fault in DiskFault::disk_faults() {
        for at in 1..=4 {
            let home = tempfile::tempdir().unwrap();
            let first = job("first");
            JobFile::new(home.path())
                .push(std::slice::from_ref(&first))
                .unwrap();
            let (disk, _) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
            let done = JobFile::with_disk(home.path(), Arc::new(disk))
                .push(&[job("second")])
                .is_ok();
            let queue = JobFile::new(home.path());
            queue.push(&[job("third")]).unwrap();
            queue
                .record_states(&[(first.id.clone(), JobState::Done)])
                .unwrap();
            let names: Vec<String> = queue
                .pending()
                .unwrap()
                .into_iter()
                .map(|pending| pending.job.turn.to_string())
                .collect();
            assert!(
                !done || names == ["second", "third"],
                "{fault:?} at step {at}: {names:?}"
            );
            assert!(
                names.ends_with(&["third".into()]),
                "{fault:?} at step {at}: {names:?}"
            );
        }
    }
}
