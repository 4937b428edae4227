//! Tests that reported files are read again, and no others.

use std::fs;

use memory_core::testing::wait_until;

use super::fixture::{IndexFixture, TestNote, id, number, query, try_search};
use crate::index::MemoryIndex;
use crate::index::refresh::ScanDepth;

const DARK: TestNote<'static> = TestNote {
    number: 1,
    folder: "",
    front: "",
    body: "prefers dark mode",
};
const DEPLOY: TestNote<'static> = TestNote {
    number: 2,
    folder: "project",
    front: "",
    body: "deploys on friday",
};

/// Searches as in a large store, in which a refresh does not check every file.
fn numbers(index: &MemoryIndex, text: &str) -> Vec<u32> {
    index.compare(ScanDepth::Names).unwrap();
    try_search(index, &query(text))
        .unwrap()
        .hits
        .iter()
        .map(|hit| number(&hit.stored.memory.id))
        .collect()
}

/// Returns a home with files so old that every change of them is detected, and its index.
fn settled() -> (IndexFixture, MemoryIndex) {
    let home = IndexFixture::with(&[DARK, DEPLOY]);
    home.age(&DARK.path());
    home.age(&DEPLOY.path());
    let index = home.index();
    assert_eq!(numbers(&index, "dark"), [1]);
    // Their change times are recent; the files are read again until the index regards them as settled.
    let paths = [DARK.path(), DEPLOY.path()];
    wait_until("the files are settled", || {
        (index.reread_changed(&paths).unwrap() == 0 && is_settled(&index)) || {
            index.reread(&paths).unwrap();
            false
        }
    });
    (home, index)
}

fn is_settled(index: &MemoryIndex) -> bool {
    let sql = "SELECT count(*) FROM documents WHERE settled = 0";
    index
        .query("count", |_, opened| {
            Ok(opened
                .connection
                .query_row(sql, (), |row| row.get::<_, i64>(0))?)
        })
        .unwrap()
        == 0
}

#[test]
fn an_edit_in_place_is_found_where_only_names_are_looked_at() {
    let (home, index) = settled();
    let text = fs::read_to_string(home.absolute_path(&DARK.path())).unwrap();
    home.put(&DARK.path(), text.replace("dark", "pale").as_bytes());
    assert_eq!(numbers(&index, "pale"), [0; 0]);
    assert_eq!(
        index.reread_changed(&[DARK.path(), DEPLOY.path()]).unwrap(),
        1
    );
    assert_eq!(
        (numbers(&index, "pale"), numbers(&index, "dark")),
        (vec![1], vec![])
    );
}

#[test]
fn a_file_that_is_gone_or_new_is_taken_in_as_well() {
    let (home, index) = settled();
    fs::remove_file(home.absolute_path(&DARK.path())).unwrap();
    let new = TestNote {
        number: 3,
        body: "a dark horse",
        ..DARK
    };
    home.write(&new);
    assert_eq!(index.reread_changed(&[DARK.path(), new.path()]).unwrap(), 2);
    assert_eq!(numbers(&index, "dark"), [3]);
    assert!(index.locate(&id(1)).unwrap().is_none());
}

#[test]
fn what_we_wrote_ourselves_is_not_read_again() {
    let (home, index) = settled();
    let new = TestNote {
        number: 3,
        body: "a dark horse",
        ..DARK
    };
    home.write_and_apply(&index, std::slice::from_ref(&new));
    assert_eq!(index.reread_changed(&[new.path(), DARK.path()]).unwrap(), 0);
}

#[test]
fn what_is_no_memory_is_passed_over() {
    let (home, index) = settled();
    home.put("categories/.hidden/x.md", b"dark");
    home.put("trash/x.md", b"dark");
    fs::create_dir(home.absolute_path("categories/folder.md")).unwrap();
    let paths = [
        "categories/.hidden/x.md",
        "trash/x.md",
        "categories/../trash/x.md",
        "categories/folder.md",
        "",
        "categories",
    ];
    assert_eq!(index.reread_changed(&paths.map(str::to_owned)).unwrap(), 0);
    assert_eq!(numbers(&index, "dark"), [1]);
}

#[test]
fn an_index_that_nobody_writes_to_is_flushed_once() {
    let (home, index) = settled();
    index.flush().unwrap();
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 3,
            body: "a dark horse",
            ..DARK
        }],
    );
    assert_eq!((index.flush().unwrap(), index.flush().unwrap()), (1, 0));
    assert_eq!(numbers(&index, "horse"), [3]);
}
