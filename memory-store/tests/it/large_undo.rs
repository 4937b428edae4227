//! The undo of an operation with many files, of which some were changed since.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memory_core::testing::FakeSource;
use memory_core::{StoreError, ingest, undo};
use memory_store::disk::RealDisk;
use memory_store::{FileStore, FileStoreOptions};

use crate::faulty_disk::{DiskFault, FaultyDisk};
use crate::home::{TestHome, services};

const NOTES: usize = 12;

/// Ingests notes into a home, and changes the file of one of them by hand. Returns its path below the home.
fn ingest_and_edit(home: &TestHome) -> String {
    let notes: Vec<_> = (0..NOTES).map(|number| (format!("{number:02}.md"), format!("note {number}"))).collect();
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    ingest(&home.services(), &FakeSource::with_notes(&notes), false, &mut |_| ()).unwrap();
    let (path, bytes) = home.files("categories").into_iter().nth(5).unwrap();
    save(&home.path().join(&path), &[bytes.as_slice(), b"edited by hand\n"].concat());
    path
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
    assert_eq!(home.files("categories").into_keys().collect::<Vec<_>>(), std::slice::from_ref(&edited));
    // The operation counts as undone, and the undo can be undone.
    assert!(matches!(undo(&home.services(), None), Err(StoreError::OperationNotFound { .. })));
    let redone = undo(&home.services(), Some(undone.undo.as_str())).unwrap();
    assert!(redone.left.is_empty());
    assert_eq!(home.files("categories"), before);
}

#[test]
fn a_power_cut_during_such_an_undo_leaves_it_completely_or_not_at_all() {
    let undo_until = |at| {
        let home = TestHome::new();
        let edited = ingest_and_edit(&home);
        let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, at);
        let dying = services(FileStore::on_disk(Arc::new(disk), home.path(), FileStoreOptions::default()));
        let _ = undo(&dying, None);
        (home, edited, steps.load(Ordering::Relaxed))
    };
    let (_, _, steps) = undo_until(u64::MAX);
    for at in 1..=steps {
        let (home, edited, _) = undo_until(at);
        home.services().history.recover().unwrap();
        let is_undone = home.services().history.records().next().unwrap().unwrap().undoes.is_some();
        let files = home.files("categories");
        assert_eq!(files.len(), if is_undone { 1 } else { NOTES }, "a power cut at step {at}");
        assert!(files[&edited].ends_with(b"edited by hand\n"), "a power cut at step {at}");
        assert_eq!(home.leftovers(), Vec::<String>::new());
    }
}
