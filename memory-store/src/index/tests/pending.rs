//! Tests that pending and flushed documents have the same results.

use memory_core::SearchResults;

use super::fixture::{
    IndexFixture, TestNote, id, listed, numbers, numbers_of, query, search, try_search,
};
use crate::index::flush::{count, flush};
use crate::index::{AppliedChange, MemoryIndex, RefreshDepth};

const WORDS: [&str; 7] = [
    "dark",
    "mode",
    "deploy",
    "friday",
    "深色模式",
    "用",
    "memory",
];

fn body(number: u32) -> String {
    (0..=number % 23)
        .map(|place| WORDS[(number * 31 + place * place) as usize % WORDS.len()])
        .collect::<Vec<_>>()
        .join(" ")
}

fn keep(home: &IndexFixture, index: &MemoryIndex, numbers: impl Iterator<Item = u32>) {
    for number in numbers {
        home.write_and_apply(
            index,
            &[TestNote {
                number,
                body: &body(number),
                ..TestNote::default()
            }],
        );
    }
}

fn answers(index: &MemoryIndex) -> Vec<SearchResults> {
    ["dark friday", "深色", "用", "模式 deploy", "emor"]
        .map(|text| search(index, &query(text)))
        .to_vec()
}

fn pending(index: &MemoryIndex) -> u64 {
    index
        .query("count", |_, opened| count(&opened.connection))
        .unwrap()
}

fn flush_now(index: &MemoryIndex) {
    index.query("flush", |_, opened| flush(opened)).unwrap();
}

#[test]
fn answers_and_scores_are_the_same_before_and_after_a_flush_and_after_a_rebuild() {
    let home = IndexFixture::new();
    let index = home.index();
    keep(&home, &index, 1..=60);
    flush_now(&index);
    keep(&home, &index, 40..=120);
    index
        .apply(
            &[AppliedChange::Removed {
                path: TestNote {
                    number: 7,
                    ..TestNote::default()
                }
                .path(),
            }],
            None,
        )
        .unwrap();
    std::fs::remove_file(
        home.absolute_path(
            &TestNote {
                number: 7,
                ..TestNote::default()
            }
            .path(),
        ),
    )
    .unwrap();
    assert!(0 < pending(&index));
    let before = answers(&index);
    assert!(
        before.iter().all(|found| 10 <= found.total),
        "{:?}",
        before.iter().map(|found| found.total).collect::<Vec<_>>()
    );
    flush_now(&index);
    assert_eq!(pending(&index), 0);
    assert_eq!(answers(&index), before, "after a flush");
    index.rebuild(&mut |_, _| {}).unwrap();
    assert_eq!(answers(&index), before, "after a rebuild");
}

#[test]
fn a_changed_or_removed_document_hides_what_was_flushed() {
    let home = IndexFixture::new();
    let index = home.index();
    home.write_and_apply(
        &index,
        &[
            TestNote {
                number: 1,
                body: "dark",
                ..TestNote::default()
            },
            TestNote {
                number: 2,
                body: "dark",
                ..TestNote::default()
            },
        ],
    );
    flush_now(&index);
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 1,
            body: "pale",
            ..TestNote::default()
        }],
    );
    let path = TestNote {
        number: 2,
        ..TestNote::default()
    }
    .path();
    std::fs::remove_file(home.absolute_path(&path)).unwrap();
    index
        .apply(&[AppliedChange::Removed { path }], None)
        .unwrap();
    assert_eq!(
        (numbers(&index, "dark"), numbers(&index, "pale")),
        (vec![], vec![1])
    );
    flush_now(&index);
    assert_eq!(
        (numbers(&index, "dark"), numbers(&index, "pale")),
        (vec![], vec![1])
    );
    assert_eq!(index.check().unwrap(), []);
}

#[test]
fn many_writes_are_flushed_by_themselves() {
    let home = IndexFixture::new();
    let index = home.index();
    keep(&home, &index, 1..=300);
    assert!(pending(&index) <= 256);
    assert_eq!(
        search(&index, &query("dark")).total,
        search(&home.index(), &query("dark")).total
    );
    assert_eq!(listed(&index).len(), 300);
}

#[test]
fn a_batch_goes_straight_to_the_full_text() {
    let home = IndexFixture::new();
    let index = home.index();
    let bodies: Vec<String> = (1..=400).map(body).collect();
    let notes: Vec<_> = (1..)
        .zip(&bodies)
        .map(|(number, body)| TestNote {
            number,
            body,
            ..TestNote::default()
        })
        .collect();
    home.write_and_apply(&index, &notes);
    assert_eq!(pending(&index), 0);
    assert_eq!(listed(&index).len(), 400);
}

#[test]
fn a_crash_between_the_two_commits_of_a_flush_changes_no_answer() {
    let home = IndexFixture::new();
    let index = home.index();
    keep(&home, &index, 1..=30);
    flush_now(&index);
    keep(&home, &index, 20..=50);
    let before = answers(&index);
    // Restore the rows from before the flush; the full text remains as after the flush.
    let rows = std::fs::read(home.absolute_path("index/documents.db")).unwrap();
    let log = std::fs::read(home.absolute_path("index/documents.db-wal")).unwrap();
    flush_now(&index);
    drop(index);
    std::fs::write(home.absolute_path("index/documents.db"), rows).unwrap();
    std::fs::write(home.absolute_path("index/documents.db-wal"), log).unwrap();
    let _ = std::fs::remove_file(home.absolute_path("index/documents.db-shm"));

    let index = home.index();
    assert!(0 < pending(&index));
    assert_eq!(answers(&index), before);
    keep(&home, &index, 45..=55);
    let before = answers(&index);
    flush_now(&index);
    assert_eq!(answers(&index), before);
    assert_eq!(index.check().unwrap(), []);
}

#[test]
fn full_text_older_than_the_rows_is_built_anew() {
    let home = IndexFixture::new();
    let index = home.index();
    keep(&home, &index, 1..=30);
    flush_now(&index);
    let before = answers(&index);
    index
        .query("set back", |_, opened| {
            Ok(opened
                .connection
                .execute("UPDATE meta SET generation = 1000", ())
                .map(drop)?)
        })
        .unwrap();
    assert_eq!(answers(&index), before);
}

#[test]
fn two_handles_see_each_others_writes() {
    let home = IndexFixture::new();
    let (first, second) = (home.index(), home.index());
    for number in 1..=20 {
        let (writer, reader) = if number % 2 == 0 {
            (&first, &second)
        } else {
            (&second, &first)
        };
        keep(&home, writer, number..=number);
        if number % 5 == 0 {
            flush_now(reader);
        }
        assert_eq!(listed(reader).len(), number as usize);
        let total = |index: &MemoryIndex| {
            try_search(index, &query("dark mode deploy friday 用 memory 深色"))
                .unwrap()
                .total
        };
        assert_eq!(
            (total(reader), total(writer)),
            (u64::from(number), u64::from(number))
        );
    }
}

#[test]
fn threads_write_flush_and_search_at_once() {
    let home = IndexFixture::new();
    std::thread::scope(|scope| {
        for part in 0..3 {
            let home = &home;
            scope.spawn(move || {
                let index = home.index();
                keep(home, &index, part * 100 + 1..=part * 100 + 60);
                flush_now(&index);
            });
        }
        let home = &home;
        scope.spawn(move || {
            let index = home.index();
            for _ in 0..20 {
                let found = search(&index, &query("dark"));
                assert!(found.hits.len() as u64 <= found.total);
            }
        });
    });
    let index = home.index();
    assert_eq!(listed(&index).len(), 180);
    let before = answers(&index);
    index.rebuild(&mut |_, _| {}).unwrap();
    assert_eq!(answers(&index), before);
    assert_eq!(index.check().unwrap(), []);
}

#[test]
fn what_the_file_has_taken_in_is_not_counted_twice() {
    let home = IndexFixture::new();
    let index = home.index();
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 1,
            body: "dark",
            ..TestNote::default()
        }],
    );
    index.count_access(&[id(1), id(1), id(1)]);
    assert_eq!(
        search(&index, &query("dark")).hits[0]
            .stored
            .memory
            .access_count,
        3
    );
    home.write_and_apply(
        &index,
        &[TestNote {
            number: 1,
            front: "access_count: 3\n",
            body: "dark too",
            ..TestNote::default()
        }],
    );
    assert_eq!(index.locate(&id(1)).unwrap().unwrap().accesses, 0);
    assert_eq!(
        search(&index, &query("dark")).hits[0]
            .stored
            .memory
            .access_count,
        3
    );
}

#[test]
fn a_memory_that_we_move_keeps_its_row() {
    let home = IndexFixture::new();
    let index = home.index();
    let (before, after) = (
        TestNote {
            number: 1,
            body: "dark",
            ..TestNote::default()
        },
        TestNote {
            number: 1,
            folder: "people",
            body: "dark",
            ..TestNote::default()
        },
    );
    home.write_and_apply(&index, std::slice::from_ref(&before));
    index.count_access(&[id(1)]);
    home.write(&after);
    std::fs::remove_file(home.absolute_path(&before.path())).unwrap();
    index
        .apply(
            &[AppliedChange::Kept {
                path: after.path(),
                former_path: Some(before.path()),
            }],
            None,
        )
        .unwrap();
    assert_eq!(
        index
            .locate(&id(1))
            .unwrap()
            .map(|place| (place.path, place.accesses)),
        Some((after.path(), 1))
    );
    assert_eq!(listed(&index), [1]);
    index.refresh(RefreshDepth::Fresh).unwrap();
    assert_eq!(numbers_of(&search(&index, &query("dark"))), [1]);
}
