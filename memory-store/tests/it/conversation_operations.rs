//! Deletions of conversation entries are logged and can be undone, at whichever step the disk fails.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationOperations, ConversationStore, EntryChange,
    EntryId, EntryRole, last, restore, undo,
};
use memory_core::secret::Checked;
use memory_core::testing::{CountingIds, FakeClock};
use memory_core::{Code, IdSource, Operation, OperationId, StoreError, Verb};
use memory_store::RandomIds;
use memory_store::conversation::ConversationFolder;
use memory_store::disk::RealDisk;

use crate::faulty_disk::{DiskFault, FaultyDisk};

fn id() -> ConversationId {
    ConversationId::default_conversation()
}

fn entry_id(name: &str) -> EntryId {
    name.parse().unwrap()
}

fn entry(name: &str) -> ConversationEntry {
    ConversationEntry::new(
        entry_id(name),
        &id(),
        EntryRole::Memory,
        &format!("fact {name}"),
        DateTime::UNIX_EPOCH,
    )
}

fn operation(verb: Verb) -> Operation {
    Operation {
        id: RandomIds.operation_id(),
        at: at(1),
        verb,
        by: "model".into(),
    }
}

fn at(day: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(day)
}

fn add(names: &[&str]) -> Vec<EntryChange> {
    names
        .iter()
        .map(|name| EntryChange::Add(entry(name)))
        .collect()
}

fn delete(name: &str, by: Option<&str>) -> EntryChange {
    EntryChange::Delete {
        id: entry_id(name),
        replaced_by: by.map(entry_id),
    }
}

/// Returns the changes that replace the fact `old` with `new`.
fn replace(old: &str, new: &str) -> Vec<EntryChange> {
    vec![EntryChange::Add(entry(new)), delete(old, Some(new))]
}

fn commit(store: &ConversationFolder, changes: &[EntryChange]) -> OperationId {
    let operation = operation(Verb::Reconcile);
    store
        .commit_operation(&id(), Checked::allowed(changes), &operation)
        .unwrap();
    operation.id
}

fn active(home: &Path) -> Vec<String> {
    let index = ConversationFolder::new(home).read(&id()).unwrap();
    assert_eq!(index.problems().count(), 0);
    index
        .entries()
        .iter()
        .map(|entry| entry.id.to_string())
        .collect()
}

/// Returns the active files with their content.
fn files(home: &Path) -> Vec<(String, Vec<u8>)> {
    let folder = fs::read_dir(home.join("entries/default/facts"))
        .unwrap()
        .map(Result::unwrap);
    let mut files: Vec<_> = folder
        .map(|file| {
            (
                file.file_name().to_string_lossy().into_owned(),
                fs::read(file.path()).unwrap(),
            )
        })
        .collect();
    files.retain(|(name, _)| !name.starts_with('.'));
    files.sort();
    files
}

fn undo_last(store: &ConversationFolder) -> Result<OperationId, StoreError> {
    let open = last(store)?.expect("an operation to undo");
    undo(
        store,
        open.operation.id.as_str(),
        &FakeClock::default(),
        &RandomIds,
    )
    .map(|undone| undone.undo)
}

#[test]
fn a_replaced_fact_comes_back_byte_for_byte_and_goes_again() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    store
        .commit(&id(), Checked::allowed(&add(&["a", "b"])))
        .unwrap();
    let before = files(home.path());
    let replaced = commit(&store, &replace("a", "c"));
    let after = files(home.path());
    assert_eq!(active(home.path()), ["b", "c"]);
    let records = store.operations().unwrap();
    assert_eq!(
        (
            records.len(),
            &records[0].operation.id,
            records[0].operation.by.as_str()
        ),
        (1, &replaced, "model")
    );
    assert_eq!(
        (&records[0].subject.added, &records[0].subject.deleted),
        (
            &vec![entry_id("c")],
            &vec![(entry_id("a"), Some(entry_id("c")))]
        )
    );
    let undone = undo_last(&store).unwrap();
    assert_eq!(
        files(home.path()),
        before,
        "the tombstone's `replaced_by` is gone again"
    );
    assert_eq!(
        store.operations().unwrap()[1].undone_by,
        Some(undone.clone())
    );
    assert!(last(&store).unwrap().is_none());
    undo(&store, undone.as_str(), &FakeClock::default(), &RandomIds).unwrap();
    assert_eq!(files(home.path()), after);
    let tombstones = store.deleted(&id()).unwrap();
    assert_eq!(
        (tombstones.len(), &tombstones[0].replaced_by),
        (1, &Some(entry_id("c")))
    );
    assert_eq!(
        last(&store)
            .unwrap()
            .expect("it is open again")
            .operation
            .id,
        replaced
    );
}

#[test]
fn facts_that_a_model_adds_are_an_operation_and_turns_are_none() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    let turn = ConversationEntry {
        role: EntryRole::User,
        ..entry("turn")
    };
    commit(&store, &[EntryChange::Add(turn)]);
    assert!(last(&store).unwrap().is_none());
    let added = commit(&store, &add(&["a", "b"]));
    commit(&store, &add(&["a", "b"]));
    let records = store.operations().unwrap();
    assert_eq!(
        (records.len(), &records[0].operation.id),
        (1, &added),
        "a repeated request is recorded once"
    );
    undo_last(&store).unwrap();
    assert_eq!(active(home.path()), ["turn"]);
    commit(&store, &add(&["a", "b"]));
    assert_eq!(
        active(home.path()),
        ["turn"],
        "a repeated request does not restore them"
    );
}

#[test]
fn operations_are_undone_one_after_the_other_and_not_out_of_order() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    store.commit(&id(), Checked::allowed(&add(&["a"]))).unwrap();
    let before = files(home.path());
    let first = commit(&store, &replace("a", "b"));
    commit(&store, &replace("b", "c"));
    store
        .commit_operation(
            &id(),
            Checked::allowed(&[delete("c", None)]),
            &operation(Verb::Evict),
        )
        .unwrap();
    let refused = undo(&store, first.as_str(), &FakeClock::default(), &RandomIds).unwrap_err();
    assert_eq!(
        (refused.code(), active(home.path()).len()),
        (Code::Conflict, 0),
        "{refused}"
    );
    for left in ["c", "b", "a"] {
        undo_last(&store).unwrap();
        assert_eq!(active(home.path()), [left]);
    }
    assert_eq!(files(home.path()), before);
}

#[test]
fn a_fact_that_was_changed_by_hand_is_left_and_reported() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    store.commit(&id(), Checked::allowed(&add(&["a"]))).unwrap();
    commit(&store, &replace("a", "b"));
    let (name, mut bytes) = files(home.path()).remove(0);
    bytes.extend(b"by hand\n");
    fs::write(home.path().join("entries/default/facts").join(name), &bytes).unwrap();
    let refused = undo_last(&store).unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    assert!(
        refused.to_string().contains("entries/default/facts/"),
        "{refused}"
    );
    assert_eq!(files(home.path())[0].1, bytes);
    assert_eq!(active(home.path()), ["b"]);
}

#[test]
fn deleted_entries_are_listed_restored_and_purged() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    store
        .commit(&id(), Checked::allowed(&add(&["aaaa", "bbbb"])))
        .unwrap();
    let before = files(home.path());
    let evicted = operation(Verb::Evict);
    store
        .commit_operation(
            &id(),
            Checked::allowed(&[delete("aaaa", None), delete("bbbb", None)]),
            &evicted,
        )
        .unwrap();
    // The other program stores tombstones next to all conversations.
    let beside = home.path().join("entries/deleted/work/facts/1__cccc.md");
    fs::create_dir_all(beside.parent().unwrap()).unwrap();
    fs::write(
        &beside,
        "---\nid: cccc\nrole: memory\nconversation_id: work\nreplaced_by: dddd\n---\nfact\n",
    )
    .unwrap();
    let trashed = store.trashed().unwrap();
    let told: Vec<_> = trashed
        .iter()
        .map(|own| {
            (
                own.id.as_str(),
                own.operation.as_ref().map(|(id, _)| id.clone()),
            )
        })
        .collect();
    assert_eq!(told.len(), 3);
    assert!(
        told.contains(&("cccc", None)) && told.contains(&("aaaa", Some(evicted.id.clone()))),
        "{told:?}"
    );
    let clock = FakeClock::default();
    let (entry, path) = restore(&store, "aaaa", &clock, &CountingIds::default()).unwrap();
    assert_eq!(
        (entry.id, path),
        (
            entry_id("aaaa"),
            format!("entries/default/facts/{}", before[0].0)
        )
    );
    assert_eq!(files(home.path()), before[..1]);
    restore(
        &store,
        "entries/deleted/work/facts/1__cccc.md",
        &clock,
        &RandomIds,
    )
    .unwrap();
    let text = fs::read_to_string(home.path().join("entries/work/facts/1__cccc.md")).unwrap();
    assert_eq!(
        text,
        "---\nid: cccc\nrole: memory\nconversation_id: work\n---\nfact\n"
    );
    assert_eq!(
        restore(&store, "aaaa", &clock, &RandomIds)
            .unwrap_err()
            .code(),
        Code::TrashNotFound
    );
    assert_eq!(store.operations().unwrap()[0].operation.verb, Verb::Restore);
    // An undone restoration deletes the entry again.
    undo_last(&store).unwrap();
    assert!(!home.path().join("entries/work/facts/1__cccc.md").exists());
    assert_eq!(store.purge_trash(at(0)).unwrap(), (0, 0));
    let (files, bytes) = store.purge_trash(at(100_000)).unwrap();
    assert!(2 < files && 0 < bytes && store.trashed().unwrap().is_empty());
    assert!(
        store.operations().unwrap().is_empty(),
        "what cannot be undone any more is listed no longer"
    );
}

#[test]
fn what_was_purged_cannot_be_undone_and_nothing_else_is_changed() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    store.commit(&id(), Checked::allowed(&add(&["a"]))).unwrap();
    commit(&store, &replace("a", "b"));
    fs::remove_dir_all(home.path().join("entries/default/deleted")).unwrap();
    assert_eq!(
        undo_last(&store).unwrap_err().code(),
        Code::OperationNotFound
    );
    assert_eq!(active(home.path()), ["b"]);
}

#[test]
fn the_same_changes_again_are_recorded_once_and_not_made_after_an_undo() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    store.commit(&id(), Checked::allowed(&add(&["a"]))).unwrap();
    let changes = replace("a", "b");
    commit(&store, &changes);
    commit(&store, &changes);
    assert_eq!(
        (store.operations().unwrap().len(), active(home.path())),
        (1, vec!["b".to_owned()])
    );
    undo_last(&store).unwrap();
    commit(&store, &changes);
    assert_eq!(
        (store.operations().unwrap().len(), active(home.path())),
        (2, vec!["a".to_owned()])
    );
    // An entry that is evicted because of its age may be evicted again.
    let oldest = [delete("a", None)];
    for _ in 0..2 {
        store
            .commit_operation(&id(), Checked::allowed(&oldest), &operation(Verb::Evict))
            .unwrap();
        assert!(active(home.path()).is_empty());
        undo_last(&store).unwrap();
        assert_eq!(active(home.path()), ["a"]);
    }
}

#[test]
fn the_same_changes_again_leave_what_was_restored_since() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    let (old, oldest) = (["aaaa", "bbbb"], [delete("aaaa", None)]);
    store.commit(&id(), Checked::allowed(&add(&old))).unwrap();
    let changes = [replace("aaaa", "cccc"), vec![delete("bbbb", Some("cccc"))]].concat();
    commit(&store, &changes);
    let bring_back = || restore(&store, "aaaa", &FakeClock::default(), &RandomIds).unwrap();
    bring_back();
    let before = files(home.path());
    commit(&store, &changes);
    assert_eq!(
        (active(home.path()), files(home.path())),
        (vec!["aaaa".to_owned(), "cccc".into()], before)
    );
    assert_eq!(store.operations().unwrap().len(), 2);
    // After an undo of the restoration, the repeated changes delete the entry again.
    undo_last(&store).unwrap();
    commit(&store, &changes);
    assert_eq!(active(home.path()), ["cccc"]);
    // An entry that is evicted because of its age may be evicted again, and this is logged.
    bring_back();
    for count in [5, 7] {
        store
            .commit_operation(&id(), Checked::allowed(&oldest), &operation(Verb::Evict))
            .unwrap();
        assert_eq!(
            (active(home.path()), store.operations().unwrap().len()),
            (vec!["cccc".to_owned()], count)
        );
        bring_back();
    }
}

#[test]
fn a_folder_without_operations_has_none_and_nothing_is_made_in_it() {
    let home = tempfile::tempdir().unwrap();
    let store = ConversationFolder::new(home.path());
    store.commit(&id(), Checked::allowed(&add(&["a"]))).unwrap();
    assert!(store.operations().unwrap().is_empty() && store.trashed().unwrap().is_empty());
    assert!(!home.path().join(".conversations").exists());
    let nowhere = ConversationFolder::new(home.path().join("nowhere"));
    assert!(nowhere.operations().unwrap().is_empty() && nowhere.trashed().unwrap().is_empty());
    assert_eq!(nowhere.purge_trash(at(9)).unwrap(), (0, 0));
    assert!(!home.path().join("nowhere").exists());
}

#[test]
fn at_whichever_step_the_disk_fails_a_change_is_recorded_before_it_is_made_and_asking_again_ends_well()
 {
    run_each_fault(
        |store, _| {
            store.commit_operation(
                &id(),
                Checked::allowed(&replace("a", "c")),
                &operation(Verb::Reconcile),
            )
        },
        |home| {
            let store = ConversationFolder::new(home);
            commit(&store, &replace("a", "c"));
            assert_eq!(active(home), ["b", "c"]);
            assert_eq!(store.operations().unwrap().len(), 1);
            undo_last(&store).unwrap();
            assert_eq!(active(home), ["a", "b"]);
        },
        false,
    );
}

#[test]
fn at_whichever_step_the_disk_fails_an_undo_loses_nothing_and_asking_again_completes_it() {
    run_each_fault(
        |store, undone| {
            store
                .undo(undone.expect("a change"), &operation(Verb::Undo))
                .map(drop)
        },
        |home| {
            let store = ConversationFolder::new(home);
            if last(&store).unwrap().is_some() {
                undo_last(&store).unwrap();
            }
            assert_eq!(active(home), ["a", "b"]);
            assert_eq!(store.operations().unwrap().len(), 2);
        },
        true,
    );
}

/// Runs `work` on a disk that fails at each step in turn.
///
/// `again` checks the result and repeats the work.
fn run_each_fault(
    work: impl Fn(&ConversationFolder, Option<&OperationId>) -> Result<(), StoreError>,
    again: impl Fn(&Path),
    is_replaced: bool,
) {
    for &fault in DiskFault::disk_faults() {
        let mut step = 0;
        loop {
            step += 1;
            let home = tempfile::tempdir().unwrap();
            let store = ConversationFolder::new(home.path());
            store
                .commit(&id(), Checked::allowed(&add(&["a", "b"])))
                .unwrap();
            let replaced = is_replaced.then(|| commit(&store, &replace("a", "c")));
            let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, step);
            let faulty = ConversationFolder::with_disk(home.path(), Arc::new(disk));
            let done = work(&faulty, replaced.as_ref());
            let kept = active(home.path());
            assert!(
                kept.contains(&"b".into()),
                "{fault:?} at step {step}: {kept:?}"
            );
            assert!(
                kept.contains(&"a".into()) || kept.contains(&"c".into()),
                "{fault:?} at step {step}: {kept:?}"
            );
            if done.is_ok() && !is_replaced {
                assert_eq!(
                    ConversationFolder::new(home.path())
                        .operations()
                        .unwrap()
                        .len(),
                    1,
                    "{fault:?} at step {step}"
                );
            }
            again(home.path());
            if steps.load(Ordering::Relaxed) < step {
                break;
            }
        }
        assert!(5 < step);
    }
}
