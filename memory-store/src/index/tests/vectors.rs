//! Tests of vectors across changes of the index.

use memory_core::query_parser::{ParsedQuery, parse};
use memory_core::{
    ContentHash, Filter, QueryVector, Ranking, SearchRequest, SearchResults, TextVector,
};

use super::fixture::{IndexFixture, TestNote, id, now, numbers_of};
use crate::index::{MemoryIndex, RefreshDepth};

const NOTES: u32 = 30;

fn body(number: u32) -> String {
    format!("note{number} of its own")
}

/// Returns a vector: the first note has one direction, all others have another.
fn vector(number: u32) -> Vec<f32> {
    if number == 1 {
        vec![1.0, 0.0]
    } else {
        vec![0.0, 1.0]
    }
}

fn home() -> (IndexFixture, MemoryIndex) {
    let home = IndexFixture::new();
    for number in 1..=NOTES {
        home.write(&TestNote {
            number,
            body: &body(number),
            ..TestNote::default()
        });
    }
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    let of = |number: u32| TextVector {
        id: id(number),
        text: ContentHash::of(&body(number)),
        vector: vector(number),
    };
    let vectors: Vec<TextVector> = (1..=NOTES).map(of).collect();
    assert_eq!(
        index.store_vectors("model", &vectors).unwrap(),
        u64::from(NOTES)
    );
    (home, index)
}

fn ask(index: &MemoryIndex, text: &str) -> SearchResults {
    index.refresh(RefreshDepth::Usual).unwrap();
    let ParsedQuery {
        question, filter, ..
    } = parse(text, &Filter::default());
    let vector = Some(QueryVector {
        identity: "model",
        vector: &[1.0, 0.0],
    });
    let asked = SearchRequest {
        question: &question,
        filter: &filter,
        limit: 10,
        ranking: Ranking::default(),
        vector,
    };
    index.search(&asked, now()).unwrap()
}

#[test]
fn vectors_outlive_an_index_that_is_built_anew() {
    let (home, index) = home();
    assert_eq!(numbers_of(&ask(&index, "elsewhere")), [1]);
    index.rebuild(&mut |_, _| ()).unwrap();
    assert_eq!(
        (
            numbers_of(&ask(&index, "elsewhere")),
            index.without_vectors("model").unwrap().len()
        ),
        (vec![1], 0)
    );
    drop(index);
    // The deleted tables contained the keys of the vectors.
    for name in ["documents.db", "documents.db-wal", "documents.db-shm"] {
        let _ = std::fs::remove_file(home.absolute_path(&format!("index/{name}")));
    }
    let index = home.index();
    assert_eq!(
        (
            numbers_of(&ask(&index, "elsewhere")),
            index.without_vectors("model").unwrap().len()
        ),
        (vec![1], 0)
    );
}

#[test]
fn without_the_folder_of_the_index_the_words_answer() {
    let (home, index) = home();
    drop(index);
    std::fs::remove_dir_all(home.absolute_path("index")).unwrap();
    let index = home.index();
    let found = ask(&index, "note2");
    assert_eq!((numbers_of(&found), found.total), (vec![2], 1));
    assert_eq!(
        index.without_vectors("model").unwrap().len(),
        NOTES as usize
    );
}

#[test]
fn what_must_not_stand_there_or_must_counts_for_vectors_too() {
    let (_home, index) = home();
    assert_eq!(
        numbers_of(&ask(&index, "elsewhere -note1")),
        Vec::<u32>::new()
    );
    assert_eq!(numbers_of(&ask(&index, "elsewhere -note2")), [1]);
    assert_eq!(numbers_of(&ask(&index, "\"note2 of\"")), [2]);
}

/// Returns the files of the vectors: the head and the rows.
fn files(home: &IndexFixture) -> [std::path::PathBuf; 2] {
    let model = std::fs::read_dir(home.absolute_path("index/vectors"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let files = std::fs::read_dir(&model)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let rows = files.into_iter().find(|path| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("rows-")
    });
    [model.join("head"), rows.unwrap()]
}

#[test]
fn vectors_that_cannot_be_read_leave_the_words_and_are_told() {
    type Spoil = fn(&IndexFixture);
    let spoil: [(&str, Spoil); 7] = [
        ("the head is cut", |home| {
            std::fs::File::options()
                .write(true)
                .open(&files(home)[0])
                .unwrap()
                .set_len(40)
                .unwrap();
        }),
        ("the head is empty", |home| {
            std::fs::write(&files(home)[0], "").unwrap();
        }),
        ("the head is another encoding", |home| {
            std::fs::write(&files(home)[0], vec![0xa5; 5000]).unwrap();
        }),
        ("the head is gone", |home| {
            std::fs::remove_file(&files(home)[0]).unwrap();
        }),
        ("the head is a folder", |home| {
            std::fs::remove_file(&files(home)[0]).unwrap();
            std::fs::create_dir(files(home)[0].clone()).unwrap();
        }),
        ("the rows are cut", |home| {
            // A new file: existing mappings of the old one remain readable.
            let bytes = std::fs::read(&files(home)[1]).unwrap();
            let rows = files(home)[1].clone();
            std::fs::remove_file(&rows).unwrap();
            std::fs::write(&rows, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("the rows are gone", |home| {
            std::fs::remove_file(&files(home)[1]).unwrap();
        }),
    ];
    let (home, index) = home();
    drop(index);
    let saved = files(&home).map(|path| (path.clone(), std::fs::read(path).unwrap()));
    for (what, spoil) in spoil {
        spoil(&home);
        let index = home.index();
        let found = ask(&index, "note2");
        assert_eq!((numbers_of(&found), found.total), (vec![2], 1), "{what}");
        assert!(
            found
                .degraded
                .is_some_and(|why| why.contains("only words were searched")),
            "{what}"
        );
        assert_eq!(ask(&index, "elsewhere").total, 0, "{what}");
        // The vectors are computed again, and the warning disappears.
        let of = |number: u32| TextVector {
            id: id(number),
            text: ContentHash::of(&body(number)),
            vector: vector(number),
        };
        assert_eq!(
            index.without_vectors("model").unwrap().len(),
            NOTES as usize,
            "{what}"
        );
        index
            .store_vectors("model", &(1..=NOTES).map(of).collect::<Vec<_>>())
            .unwrap();
        let found = ask(&index, "elsewhere");
        assert_eq!(
            (numbers_of(&found), found.degraded),
            (vec![1], None),
            "{what}"
        );
        drop(index);
        let model = files(&home)[0].parent().unwrap().to_owned();
        std::fs::remove_dir_all(&model).unwrap();
        std::fs::create_dir(&model).unwrap();
        for (path, bytes) in &saved {
            std::fs::write(path, bytes).unwrap();
        }
    }
    assert_eq!(ask(&home.index(), "elsewhere").degraded, None);
}
