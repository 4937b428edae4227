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
        vectors: vec![vector(number)],
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
            vectors: vec![vector(number)],
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

/// Returns a vector whose codes are unlikely elsewhere, and is unlike those of other numbers.
fn rare_vector(number: u8) -> Vec<f32> {
    (0..8_u8)
        .map(|place| f32::from((number.wrapping_mul(37) ^ place.wrapping_mul(91)) % 101) - 50.0)
        .chain([127.0])
        .collect()
}

/// Stores rare vectors of the notes with these numbers, of two models.
fn store_rare_vectors(index: &MemoryIndex, notes: &[(u32, String)]) -> u64 {
    let vectors: Vec<TextVector> = notes
        .iter()
        .map(|(number, body)| TextVector {
            id: id(*number),
            text: ContentHash::of(body),
            vectors: vec![rare_vector(u8::try_from(*number).unwrap())],
        })
        .collect();
    let stored = ["one", "two"].map(|model| index.store_vectors(model, &vectors).unwrap());
    stored[0].min(stored[1])
}

/// Returns the number of files of vectors that contain the codes of a rare vector.
fn files_with_rare_vector(home: &IndexFixture, number: u8) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "they are from -50 to 127")]
    let codes: Vec<u8> = rare_vector(number)
        .iter()
        .map(|code| (*code as i8).cast_unsigned())
        .collect();
    let models = std::fs::read_dir(home.absolute_path("index/vectors")).unwrap();
    let files = models.flat_map(|model| std::fs::read_dir(model.unwrap().path()).unwrap());
    files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .filter(|bytes| bytes.windows(codes.len()).any(|window| window == codes))
        .count()
}

fn without_vectors(index: &MemoryIndex) -> [u64; 2] {
    let counted = index.count_without_vectors("one").unwrap();
    let listed = index.without_vectors("one").unwrap().len() as u64;
    [counted, listed]
}

fn rare_home() -> (IndexFixture, MemoryIndex) {
    let home = IndexFixture::new();
    let notes: Vec<(u32, String)> = (1..=5).map(|number| (number, body(number))).collect();
    for (number, body) in &notes {
        home.write(&TestNote {
            number: *number,
            body,
            ..TestNote::default()
        });
    }
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    assert_eq!(without_vectors(&index), [5, 5]);
    assert_eq!(store_rare_vectors(&index, &notes), 5);
    assert_eq!(without_vectors(&index), [0, 0]);
    (home, index)
}

#[test]
fn no_file_has_the_vector_of_a_deleted_or_changed_text() {
    let (home, index) = rare_home();
    let removed = TestNote {
        number: 2,
        ..TestNote::default()
    };
    std::fs::remove_file(home.absolute_path(&removed.path())).unwrap();
    // One by a write, one by hand; of the other one only the tags change.
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 3,
            body: "another text",
            ..TestNote::default()
        }],
    );
    home.write(&TestNote {
        number: 4,
        body: "edited by hand",
        ..TestNote::default()
    });
    home.write(&TestNote {
        number: 5,
        front: "tags: [new]\n",
        body: &body(5),
        ..TestNote::default()
    });
    assert_eq!(files_with_rare_vector(&home, 3), 0);
    assert_eq!(files_with_rare_vector(&home, 4), 2);
    index.refresh(RefreshDepth::Usual).unwrap();
    let left = [1, 2, 3, 4, 5].map(|number| files_with_rare_vector(&home, number));
    assert_eq!(left, [2, 0, 0, 0, 2]);
    assert_eq!(without_vectors(&index), [2, 2]);
    let texts = [
        (3, "another text".to_owned()),
        (4, "edited by hand".to_owned()),
    ];
    assert_eq!(store_rare_vectors(&index, &texts), 2);
    assert_eq!(without_vectors(&index), [0, 0]);
}

#[test]
fn a_process_that_ended_before_its_transaction_leaves_vectors_that_are_missing() {
    let (home, index) = rare_home();
    drop(index);
    let tables = ["documents.db", "documents.db-wal", "documents.db-shm"]
        .map(|name| home.absolute_path(&format!("index/{name}")));
    let saved = tables.clone().map(|path| std::fs::read(path).ok());
    let changed = TestNote {
        number: 3,
        body: "another text",
        ..TestNote::default()
    };
    let index = home.index();
    home.write_and_apply(&index, std::slice::from_ref(&changed));
    drop(index);
    for (path, bytes) in tables.iter().zip(saved) {
        match bytes {
            Some(bytes) => std::fs::write(path, bytes).unwrap(),
            None => drop(std::fs::remove_file(path)),
        }
    }
    let index = home.index();
    assert_eq!(without_vectors(&index), [1, 1]);
    index.refresh(RefreshDepth::Usual).unwrap();
    assert_eq!(without_vectors(&index), [1, 1]);
    assert_eq!(
        store_rare_vectors(&index, &[(3, changed.body.to_owned())]),
        1
    );
    assert_eq!(without_vectors(&index), [0, 0]);
}

#[test]
fn vectors_of_a_format_that_cannot_be_read_are_deleted_with_the_first_text() {
    let (home, index) = rare_home();
    let model = ContentHash::of("older").to_string();
    let older = home.absolute_path(&format!("index/vectors/{model}"));
    std::fs::create_dir(&older).unwrap();
    std::fs::write(older.join("rows-0123456789abcdef"), "vectors").unwrap();
    let added = TestNote {
        number: 6,
        body: "sixth",
        ..TestNote::default()
    };
    home.write_and_apply(&index, &[added]);
    assert!(older.exists(), "an added text says nothing about others");
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 1,
            body: "another text",
            ..TestNote::default()
        }],
    );
    assert!(!older.exists());
    assert_eq!(without_vectors(&index), [2, 2]);
}

#[test]
fn a_proposal_has_no_vector() {
    let (home, index) = rare_home();
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 1,
            front: "proposed_by: agent\nproposed_action: write\n",
            body: &body(1),
            ..TestNote::default()
        }],
    );
    assert_eq!(files_with_rare_vector(&home, 1), 0);
    assert_eq!(without_vectors(&index), [0, 0]);
    assert_eq!(store_rare_vectors(&index, &[(1, body(1))]), 0);
    assert_eq!(without_vectors(&index), [0, 0]);
}

#[test]
fn a_hit_without_common_words_shows_its_best_passage() {
    let (home, index) = home();
    let (before, after) = ("filler ".repeat(110), " Later.".repeat(25));
    let text = format!("{before}\n\nThe ferry leaves at nine.{after}");
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 1,
            body: &text,
            ..TestNote::default()
        }],
    );
    let vectors = TextVector {
        id: id(1),
        text: ContentHash::of(&text),
        vectors: vec![vec![0.0, 1.0], vec![1.0, 0.0]],
    };
    assert_eq!(index.store_vectors("model", &[vectors]).unwrap(), 1);
    let found = ask(&index, "elsewhere");
    assert_eq!(numbers_of(&found), [1]);
    assert!(
        found.hits[0]
            .snippet
            .starts_with("…The ferry leaves at nine."),
        "{}",
        found.hits[0].snippet
    );
}

#[test]
fn a_keyword_inside_a_word_comes_before_similar_meanings_and_in_a_sentence_behind_them() {
    let bodies: Vec<(u32, String)> = (1..=31)
        .map(|number| match number {
            31 => (number, "the postgresql server".to_owned()),
            _ => (number, format!("note{number} of its own")),
        })
        .collect();
    let home = IndexFixture::new();
    for (number, body) in &bodies {
        home.write(&TestNote {
            number: *number,
            body,
            ..TestNote::default()
        });
    }
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    // The first ten are more similar than the mean.
    let vectors = bodies.iter().map(|(number, body)| TextVector {
        id: id(*number),
        text: ContentHash::of(body),
        vectors: vec![if *number <= 10 {
            vec![0.8, 0.6]
        } else {
            vec![0.0, 1.0]
        }],
    });
    let vectors: Vec<TextVector> = vectors.collect();
    index.store_vectors("model", &vectors).unwrap();
    let found = numbers_of(&ask(&index, "tgresq"));
    assert_eq!(found[0], 31, "{found:?}");
    let found = numbers_of(&ask(&index, "what is the tgresq"));
    assert!(found.iter().all(|number| *number <= 10), "{found:?}");
}
