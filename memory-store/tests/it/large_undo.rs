//! The undo of an operation with many files, of which some were changed since.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memory_core::testing::FakeSource;
use memory_core::{StoreError, Verb, ingest, restore, undo};
use memory_store::disk::RealDisk;
use memory_store::{FileStore, FileStoreOptions};

use crate::faulty_disk::{DiskFault, FaultyDisk};
use crate::home::{TestHome, services};

const NOTES: usize = 12;

/// Ingests notes with these texts.
fn ingest_notes(home: &TestHome, text: &str) {
    let notes: Vec<_> = (0..NOTES)
        .map(|number| (format!("{number:02}.md"), format!("{text} {number}")))
        .collect();
    let notes: Vec<_> = notes
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    ingest(
        &home.services(),
        &FakeSource::with_notes(&notes),
        &memory_core::IngestOptions::default(),
        &mut |_| (),
    )
    .unwrap();
}

/// Changes the file of one memory by hand, and returns its path below the home.
fn edit_one(home: &TestHome) -> String {
    let (path, bytes) = home.files("categories").into_iter().nth(5).unwrap();
    save(
        &home.path().join(&path),
        &[bytes.as_slice(), b"edited by hand\n"].concat(),
    );
    path
}

fn ingest_and_edit(home: &TestHome) -> String {
    ingest_notes(home, "note");
    edit_one(home)
}

fn save(path: &Path, bytes: &[u8]) {
    fs::write(path.with_extension("new"), bytes).unwrap();
    fs::rename(path.with_extension("new"), path).unwrap();
}

#[test]
fn an_undo_of_many_files_leaves_the_changed_one_and_names_it() {
    let home = TestHome::new();
    let edited = ingest_and_edit(&home);
    let before = home.files("categories");
    let undone = undo(&home.services(), None).unwrap();
    assert_eq!(undone.left, std::slice::from_ref(&edited));
    assert_eq!(
        home.files("categories").into_keys().collect::<Vec<_>>(),
        std::slice::from_ref(&edited)
    );
    // The operation counts as undone, and the undo can be undone.
    assert!(matches!(
        undo(&home.services(), None),
        Err(StoreError::OperationNotFound { .. })
    ));
    let redone = undo(&home.services(), Some(undone.undo.as_str())).unwrap();
    assert!(redone.left.is_empty());
    assert_eq!(home.files("categories"), before);
}

#[test]
fn the_former_version_of_a_file_that_was_left_is_in_the_trash() {
    let home = TestHome::new();
    ingest_notes(&home, "note");
    let before = home.files("categories");
    ingest_notes(&home, "another note");
    let edited = edit_one(&home);
    assert_eq!(
        undo(&home.services(), None).unwrap().left,
        std::slice::from_ref(&edited)
    );
    let trashed: Vec<_> = home
        .services()
        .history
        .trashed()
        .map(Result::unwrap)
        .collect();
    let former = trashed
        .iter()
        .filter(|trashed| trashed.path == edited && trashed.operation.verb == Verb::Ingest)
        .collect::<Vec<_>>();
    assert_eq!(
        (
            former.len(),
            trashed
                .iter()
                .filter(|trashed| trashed.operation.verb == Verb::Ingest)
                .count()
        ),
        (1, 1),
        "{trashed:?}"
    );
    restore(&home.services(), &former[0].trash).unwrap();
    assert_eq!(home.files("categories"), before);
}

#[test]
fn an_undo_of_an_undo_leaves_changed_files_too() {
    let home = TestHome::new();
    ingest_notes(&home, "note");
    ingest_notes(&home, "another note");
    let left = [edit_one(&home)];
    let undone = undo(&home.services(), None).unwrap();
    assert_eq!(undone.left, left);
    let other = home.files("categories").into_keys().next().unwrap();
    save(&home.path().join(&other), b"edited since\n");
    assert_eq!(
        undo(&home.services(), Some(undone.undo.as_str()))
            .unwrap()
            .left,
        [other]
    );
}

#[test]
fn a_power_cut_during_such_an_undo_leaves_it_completely_or_not_at_all() {
    let undo_until = |at| {
        let home = TestHome::new();
        let edited = ingest_and_edit(&home);
        let (disk, steps) =
            FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, at);
        let dying = services(FileStore::on_disk(
            Arc::new(disk),
            home.path(),
            FileStoreOptions::default(),
        ));
        let _ = undo(&dying, None);
        (home, edited, steps.load(Ordering::Relaxed))
    };
    let (_, _, steps) = undo_until(u64::MAX);
    for at in 1..=steps {
        let (home, edited, _) = undo_until(at);
        home.services().history.recover().unwrap();
        let is_undone = home
            .services()
            .history
            .records()
            .next()
            .unwrap()
            .unwrap()
            .undoes
            .is_some();
        let files = home.files("categories");
        assert_eq!(
            files.len(),
            if is_undone { 1 } else { NOTES },
            "a power cut at step {at}"
        );
        assert!(
            files[&edited].ends_with(b"edited by hand\n"),
            "a power cut at step {at}"
        );
        assert_eq!(home.leftovers(), Vec::<String>::new());
    }
}
