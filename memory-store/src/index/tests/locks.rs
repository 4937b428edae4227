//! Tests of locks that another process holds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::{LockHolder, StoreError};

use super::fixture::{IndexFixture, TestNote, numbers, query, try_search};
use crate::index::MemoryIndex;
use crate::index::schema::{self, LOCK_TIMEOUT};

fn home() -> IndexFixture {
    let note = TestNote {
        number: 1,
        body: "dark mode",
        ..TestNote::default()
    };
    let home = IndexFixture::with(&[note]);
    assert_eq!(numbers(&home.index(), "dark"), [1]);
    home
}

/// Returns the index of another process that waits for no lock.
fn impatient(home: &IndexFixture) -> MemoryIndex {
    MemoryIndex {
        lock_timeout: Duration::ZERO,
        ..home.index()
    }
}

fn lock(path: &Path) -> File {
    let file = File::options().write(true).open(path).unwrap();
    file.lock().unwrap();
    file
}

/// Asserts that an operation failed because of a lock below `folder`, and names its holder.
fn assert_locked<T>(result: Result<T, StoreError>, folder: &Path) {
    let Err(StoreError::Locked {
        home,
        seconds: 0,
        holder,
    }) = result
    else {
        panic!("{:?}", result.err());
    };
    assert!(Path::new(&home).starts_with(folder), "{home}");
    let pid = holder.map(|LockHolder { pid, .. }| pid);
    let expected = cfg!(all(target_os = "linux", not(portable_system)));
    assert_eq!(pid, expected.then(std::process::id));
}

#[test]
fn locked_files_of_the_index_are_waited_for_with_a_limit() {
    let home = home();
    let folder = home.absolute_path("index");
    let held = lock(&folder.join(".lock"));
    assert_locked(try_search(&impatient(&home), &query("dark")), &folder);
    drop(held);
    assert_eq!(numbers(&impatient(&home), "dark"), [1]);
}

#[test]
fn locked_tables_are_waited_for_with_a_limit() {
    let home = home();
    let folder = home.absolute_path("index");
    let other = schema::connect(&folder, LOCK_TIMEOUT).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_locked(impatient(&home).rebuild(&mut |_, _| ()), &folder);
    other.execute_batch("ROLLBACK").unwrap();
    impatient(&home).rebuild(&mut |_, _| ()).unwrap();
}

#[test]
fn a_locked_full_text_is_waited_for_with_a_limit() {
    let home = home();
    let folder = home.absolute_path("index");
    let epochs = fs::read_dir(folder.join("text")).unwrap();
    let epoch: Vec<PathBuf> = epochs.map(|entry| entry.unwrap().path()).collect();
    let held = lock(&epoch[0].join(".tantivy-meta.lock"));
    assert_locked(try_search(&impatient(&home), &query("dark")), &folder);
    drop(held);
    assert_eq!(numbers(&impatient(&home), "dark"), [1]);
}
