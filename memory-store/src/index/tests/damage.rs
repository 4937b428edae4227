//! Tests that results stay the same when the index is lost or damaged.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::SearchResults;

use super::fixture::{IndexFixture, TestNote, id, listed, numbers, query, search};
use crate::index::MemoryIndex;

fn home() -> IndexFixture {
    let bodies = [
        "prefers dark mode",
        "dark roast and dark chocolate",
        "深色模式 is on",
        "deploys on friday",
    ];
    let home = IndexFixture::new();
    for (number, body) in (1..).zip(bodies) {
        home.write(&TestNote {
            number,
            body,
            ..TestNote::default()
        });
    }
    home
}

fn answers(index: &MemoryIndex) -> Vec<SearchResults> {
    ["dark", "深色", "色", "friday mode", "rida"]
        .iter()
        .map(|text| search(index, &query(text)))
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn a_flipped_bit_of_the_full_text_changes_no_answer() {
    let home = home();
    let before = answers(&home.index());
    let kinds = ["term", "idx", "pos", "fast", "fieldnorm", "store"];
    for (number, kind) in kinds.iter().enumerate() {
        let is_meant = |file: &PathBuf| file.extension().is_some_and(|own| own == *kind);
        let file = files(&home.absolute_path("index/text"))
            .into_iter()
            .find(is_meant)
            .unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / (2 + number);
        bytes[middle] ^= 4;
        fs::write(&file, bytes).unwrap();
        // Clocks of file systems tick some hundred times a second.
        let later = file.metadata().unwrap().modified().unwrap() + Duration::from_secs(1);
        File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(later)
            .unwrap();
        assert_eq!(answers(&home.index()), before, "{kind}");
    }
}

#[test]
fn a_deleted_index_comes_back_with_the_same_answers() {
    let home = home();
    let index = home.index();
    let before = answers(&index);
    assert_eq!(
        before.iter().map(|found| found.total).collect::<Vec<_>>(),
        [2, 1, 1, 2, 1]
    );
    fs::remove_dir_all(home.absolute_path("index")).unwrap();
    assert_eq!(answers(&index), before, "under an open index");
    fs::remove_dir_all(home.absolute_path("index")).unwrap();
    assert_eq!(answers(&home.index()), before, "before it is opened");
}

#[test]
fn an_index_that_is_deleted_while_it_is_built_is_built_again() {
    let home = home();
    let before = answers(&home.index());
    let index = home.index();
    let mut deletions = 2;
    index
        .rebuild(&mut |_, _| {
            if 0 < deletions && fs::remove_dir_all(home.absolute_path("index")).is_ok() {
                deletions -= 1;
            }
        })
        .unwrap();
    assert_eq!(deletions, 0);
    assert_eq!(answers(&index), before);
}

#[test]
fn damaged_tables_come_back() {
    let home = home();
    let before = answers(&home.index());
    let file = home.absolute_path("index/documents.db");
    let whole = fs::read(&file).unwrap();
    let damages: [&dyn Fn() -> Vec<u8>; 4] = [
        &|| b"this is no database at all, but it is long enough to look like one".repeat(100),
        &|| whole[..whole.len() / 2].to_vec(),
        &Vec::new,
        &|| [&whole[..100], &vec![0xff; whole.len() - 100]].concat(),
    ];
    for damage in damages {
        for name in ["index/documents.db-wal", "index/documents.db-shm"] {
            let _ = fs::remove_file(home.absolute_path(name));
        }
        fs::write(&file, damage()).unwrap();
        assert_eq!(answers(&home.index()), before);
    }
}

#[test]
fn a_damaged_full_text_comes_back() {
    let home = home();
    let index = home.index();
    index.count_access(&[id(1)]);
    let before = answers(&index);
    let names: Vec<PathBuf> = files(&home.absolute_path("index/text"));
    let suffixes = ["meta.json", "term", "idx", "fast", "fieldnorm"];
    for suffix in suffixes {
        assert!(
            names
                .iter()
                .any(|path| path.to_string_lossy().ends_with(suffix)),
            "{suffix} of {names:?}"
        );
        for path in files(&home.absolute_path("index/text"))
            .iter()
            .filter(|path| path.to_string_lossy().ends_with(suffix))
        {
            fs::write(path, b"").unwrap();
        }
        let index = home.index();
        assert_eq!(answers(&index), before, "without {suffix}");
        assert_eq!(index.locate(&id(1)).unwrap().unwrap().accesses, 1);
    }
    fs::remove_dir_all(home.absolute_path("index/text")).unwrap();
    assert_eq!(answers(&home.index()), before);
}

#[test]
fn an_index_of_another_version_is_built_anew() {
    let home = home();
    let before = answers(&home.index());
    let connection = rusqlite::Connection::open(home.absolute_path("index/documents.db")).unwrap();
    connection
        .execute_batch("PRAGMA user_version = 999; DROP TABLE meta")
        .unwrap();
    drop(connection);
    assert_eq!(answers(&home.index()), before);
}

#[test]
fn where_the_index_cannot_be_written_a_temporary_one_answers_and_says_so() {
    let home = home();
    let before = answers(&home.index());
    fs::remove_dir_all(home.absolute_path("index")).unwrap();
    home.put("index", b"in the way");
    let index = home.index();
    let found = search(&index, &query("dark"));
    assert_eq!(found.hits, before[0].hits);
    assert!(found.degraded.unwrap().contains("cannot be written"));
    home.write(&TestNote {
        number: 9,
        body: "dark again",
        ..TestNote::default()
    });
    assert_eq!(numbers(&index, "again"), [9]);
}

#[test]
fn rebuilding_tells_how_far_it_is_and_keeps_what_no_file_knows() {
    let home = home();
    let index = home.index();
    let before = answers(&index);
    index.count_access(&[id(2), id(2)]);
    index.apply(&[], Some("2026-05 77")).unwrap();
    let mut told = Vec::new();
    index
        .rebuild(&mut |done, total| told.push((done, total)))
        .unwrap();
    assert_eq!(told, [(1, 4), (2, 4), (3, 4), (4, 4)]);
    assert_eq!(index.journal_mark().unwrap().as_deref(), Some("2026-05 77"));
    assert_eq!(index.locate(&id(2)).unwrap().unwrap().accesses, 2);
    let totals =
        |found: &[SearchResults]| found.iter().map(|found| found.total).collect::<Vec<_>>();
    assert_eq!(totals(&answers(&index)), totals(&before));
    assert_eq!(
        fs::read_dir(home.absolute_path("index/text"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn an_index_that_another_handle_built_anew_is_followed() {
    let home = home();
    let (first, second) = (home.index(), home.index());
    let before = answers(&first);
    for _ in 0..3 {
        second.rebuild(&mut |_, _| {}).unwrap();
        assert_eq!(answers(&first), before);
        fs::remove_dir_all(home.absolute_path("index")).unwrap();
        assert_eq!(answers(&second), before);
        assert_eq!(listed(&first), [4, 3, 2, 1]);
    }
}
