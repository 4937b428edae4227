//! Tests that changes by other programs are detected at once.

use std::fs;
use std::os::unix::fs::symlink;

use memory_core::{Code, ReminderQuery};

use super::fixture::{IndexFixture, TestNote, id, listed, number, numbers};
use crate::index::RefreshDepth;
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

#[test]
fn a_home_without_memories_answers_nothing() {
    let home = IndexFixture::new();
    let index = home.index();
    assert_eq!(
        super::fixture::try_search(&index, &super::fixture::query("dark"))
            .unwrap()
            .total,
        0
    );
}

#[test]
fn a_file_that_appears_is_found() {
    let home = IndexFixture::with(&[DARK]);
    let index = home.index();
    assert_eq!(numbers(&index, "friday"), [0; 0]);
    home.write(&DEPLOY);
    assert_eq!(
        (numbers(&index, "friday"), listed(&index)),
        (vec![2], vec![2, 1])
    );
}

#[test]
fn a_file_that_goes_is_found_no_more() {
    let home = IndexFixture::with(&[DARK, DEPLOY]);
    let index = home.index();
    assert_eq!(numbers(&index, "friday"), [2]);
    fs::remove_dir_all(home.absolute_path("categories/project")).unwrap();
    assert_eq!(
        (numbers(&index, "friday"), listed(&index)),
        (vec![], vec![1])
    );
}

#[test]
fn a_file_that_moves_keeps_its_accesses() {
    let home = IndexFixture::with(&[DARK, DEPLOY]);
    let index = home.index();
    index.count_access(&[id(1), id(1)]);
    fs::create_dir_all(home.absolute_path("categories/preferences")).unwrap();
    fs::rename(
        home.absolute_path(&DARK.path()),
        home.absolute_path("categories/preferences/dark.md"),
    )
    .unwrap();
    assert_eq!(numbers(&index, "dark"), [1]);
    let place = index.locate(&id(1)).unwrap().unwrap();
    assert_eq!(
        (place.path.as_str(), place.accesses),
        ("categories/preferences/dark.md", 2)
    );
    assert_eq!(listed(&index), [2, 1]);
}

#[test]
fn a_file_that_is_replaced_is_found_by_its_new_words_only() {
    let home = IndexFixture::with(&[DARK]);
    let index = home.index();
    assert_eq!(numbers(&index, "dark"), [1]);
    home.put(
        "other",
        fs::read_to_string(home.absolute_path(&DARK.path()))
            .unwrap()
            .replace("dark", "pale")
            .as_bytes(),
    );
    fs::rename(
        home.absolute_path("other"),
        home.absolute_path(&DARK.path()),
    )
    .unwrap();
    assert_eq!(
        (numbers(&index, "dark"), numbers(&index, "pale")),
        (vec![], vec![1])
    );
}

#[test]
fn an_edit_in_place_is_seen_even_in_the_same_tick_and_with_the_same_size() {
    let home = IndexFixture::with(&[DARK]);
    let index = home.index();
    for (before, after) in [("dark", "pale"), ("pale", "gray"), ("gray", "blue")] {
        assert_eq!(numbers(&index, before), [1]);
        let text = fs::read_to_string(home.absolute_path(&DARK.path())).unwrap();
        home.put(&DARK.path(), text.replace(before, after).as_bytes());
        assert_eq!(
            (numbers(&index, before), numbers(&index, after)),
            (vec![], vec![1])
        );
    }
}

#[test]
fn an_edit_that_keeps_size_and_time_is_seen() {
    let home = IndexFixture::with(&[DARK]);
    home.age(&DARK.path());
    let index = home.index();
    assert_eq!(numbers(&index, "dark"), [1]);
    let text = fs::read_to_string(home.absolute_path(&DARK.path())).unwrap();
    home.put(&DARK.path(), text.replace("dark", "pale").as_bytes());
    home.age(&DARK.path());
    assert_eq!(numbers(&index, "pale"), [1]);
}

#[test]
fn a_file_edited_after_the_refresh_is_told_as_it_stands() {
    let home = IndexFixture::with(&[DARK, DEPLOY]);
    let index = home.index();
    assert_eq!(numbers(&index, "dark"), [1]);
    let text = fs::read_to_string(home.absolute_path(&DARK.path())).unwrap();
    home.put(
        &DARK.path(),
        text.replace("dark mode", "dark roast").as_bytes(),
    );
    let found = super::fixture::try_search(&index, &super::fixture::query("dark")).unwrap();
    assert_eq!(found.hits[0].stored.memory.content, "prefers dark roast");
    fs::remove_file(home.absolute_path(&DARK.path())).unwrap();
    let found = super::fixture::try_search(&index, &super::fixture::query("dark")).unwrap();
    assert_eq!((found.total, found.hits.len()), (0, 0));
}

#[test]
fn hidden_and_temporary_files_are_none_of_ours() {
    let home = IndexFixture::with(&[DARK]);
    for name in [".hidden.md", "x.tmp", "y.md.tmp", "picture.png"] {
        home.put(&format!("categories/inbox/{name}"), b"dark");
    }
    home.put("categories/.obsidian/note.md", b"dark");
    let index = home.index();
    assert_eq!(numbers(&index, "dark"), [1]);
    assert_eq!(index.problems().unwrap(), []);
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_works() {
    let home = IndexFixture::with(&[DARK]);
    let huge = fs::File::create(home.absolute_path("categories/inbox/huge.md")).unwrap();
    huge.set_len(50 * 1024 * 1024).unwrap();
    symlink(
        home.absolute_path(&DARK.path()),
        home.absolute_path("categories/inbox/link.md"),
    )
    .unwrap();
    symlink(
        home.absolute_path("categories/inbox"),
        home.absolute_path("categories/elsewhere"),
    )
    .unwrap();
    home.put(
        "categories/inbox/broken.md",
        b"---\nid: [\n---\ndark as well\n",
    );
    let index = home.index();
    for _ in 0..2 {
        let found = numbers(&index, "dark");
        assert_eq!((found.len(), found.contains(&1)), (2, true));
        let problems = index.problems().unwrap();
        let told: Vec<_> = problems
            .iter()
            .map(|problem| (problem.path.as_str(), problem.code))
            .collect();
        let expected = [
            ("categories/elsewhere", Code::FileDamaged),
            ("categories/inbox/broken.md", Code::FileDamaged),
            ("categories/inbox/huge.md", Code::FileTooLarge),
            ("categories/inbox/link.md", Code::FileDamaged),
        ];
        assert_eq!(told, expected);
        assert_eq!(index.check().unwrap(), []);
    }
    huge.set_len(0).unwrap();
    fs::remove_file(home.absolute_path("categories/inbox/link.md")).unwrap();
    index.refresh(RefreshDepth::Usual).unwrap();
    assert_eq!(index.problems().unwrap().len(), 2);
}

#[test]
fn of_two_files_with_one_id_the_one_named_after_it_keeps_it() {
    let home = IndexFixture::with(&[DARK]);
    let copy = "categories/inbox/a copy.md";
    fs::copy(home.absolute_path(&DARK.path()), home.absolute_path(copy)).unwrap();
    let index = home.index();
    let all = listed(&index);
    assert_eq!((all.len(), all.contains(&1)), (2, true));
    assert_eq!(index.locate(&id(1)).unwrap().unwrap().path, DARK.path());
    let twin = memory_core::MemoryId::for_path(copy);
    assert_eq!(index.locate(&twin).unwrap().unwrap().path, copy);
    assert_eq!(index.problems().unwrap()[0].path, copy);
    assert!(
        super::fixture::search(&index, &super::fixture::query("dark"))
            .hits
            .iter()
            .any(|hit| hit.stored.memory.id == twin)
    );

    fs::remove_file(home.absolute_path(&DARK.path())).unwrap();
    assert_eq!(listed(&index), [1]);
    assert_eq!(index.locate(&id(1)).unwrap().unwrap().path, copy);
    home.write(&DARK);
    index.refresh(RefreshDepth::Usual).unwrap();
    assert_eq!(index.locate(&id(1)).unwrap().unwrap().path, DARK.path());
}

#[test]
fn a_folder_of_conversations_leads_nowhere_else() {
    let home = IndexFixture::with(&[DARK]);
    fs::create_dir_all(home.absolute_path("entries/.._up/facts")).unwrap();
    fs::write(home.absolute_path("entries/.._up/facts/1.md"), "likes tea").unwrap();
    fs::write(home.absolute_path("stray.md"), "nothing of ours").unwrap();
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    index.refresh(RefreshDepth::Fresh).unwrap();
    assert_eq!(
        (index.degraded().unwrap(), index.check().unwrap()),
        (None, Vec::new())
    );
    index.rebuild(&mut |_, _| ()).unwrap();
    assert_eq!(
        (index.degraded().unwrap(), index.check().unwrap()),
        (None, Vec::new())
    );
}

#[test]
fn check_tells_what_the_index_does_not_know() {
    let home = IndexFixture::with(&[DARK, DEPLOY]);
    let index = home.index();
    index.refresh(RefreshDepth::Usual).unwrap();
    assert_eq!(index.check().unwrap(), []);
    fs::remove_file(home.absolute_path(&DARK.path())).unwrap();
    home.write(&TestNote {
        number: 3,
        body: "new",
        ..TestNote::default()
    });
    let wrong = index.check().unwrap();
    assert_eq!(wrong.len(), 2);
    index.refresh(RefreshDepth::Fresh).unwrap();
    assert_eq!(index.check().unwrap(), []);
}

#[test]
fn memories_are_told_oldest_first() {
    let notes: Vec<_> = (1..=600)
        .map(|number| TestNote {
            number,
            body: "same",
            ..TestNote::default()
        })
        .collect();
    let home = IndexFixture::with(&notes);
    let index = home.index();
    let all = index.memories(&memory_core::Filter::all(), super::fixture::now());
    let all: Vec<u32> = all
        .map(|stored| number(&stored.unwrap().memory.id))
        .collect();
    assert_eq!(all, (1..=600).collect::<Vec<_>>());
}

#[test]
fn sums_that_went_wrong_are_set_right() {
    let home = IndexFixture::with(&[DARK, DEPLOY]);
    let index = home.index();
    index.refresh(RefreshDepth::Fresh).unwrap();
    let sums = |index: &crate::index::MemoryIndex| {
        let sql = "SELECT group_concat(path || names || ' ' || signatures) FROM folders";
        index
            .query("read", |_, opened| {
                Ok(opened
                    .connection
                    .query_row(sql, (), |row| row.get::<_, String>(0))?)
            })
            .unwrap()
    };
    let before = sums(&index);
    index
        .query("spoil", |_, opened| {
            Ok(opened
                .connection
                .execute("UPDATE folders SET names = 1", ())
                .map(drop)?)
        })
        .unwrap();
    index.refresh(RefreshDepth::Fresh).unwrap();
    assert_eq!((sums(&index), listed(&index)), (before, vec![2, 1]));
}

#[test]
fn names_alone_tell_of_files_that_come_go_move_and_are_replaced() {
    let home = IndexFixture::with(&[DARK, DEPLOY]);
    let index = home.index();
    let told = |text: &str| {
        index.compare(ScanDepth::Names).unwrap();
        let found = super::fixture::try_search(&index, &super::fixture::query(text)).unwrap();
        super::fixture::numbers_of(&found)
    };
    assert_eq!((told("dark"), told("dark")), (vec![1], vec![1]));
    let new = TestNote {
        number: 3,
        folder: "people/friends",
        body: "anna likes dark beer",
        ..TestNote::default()
    };
    home.write(&new);
    assert_eq!(told("anna"), [3]);
    fs::rename(
        home.absolute_path(&new.path()),
        home.absolute_path("categories/project/anna.md"),
    )
    .unwrap();
    assert_eq!(
        (
            told("anna"),
            index.locate(&id(3)).unwrap().unwrap().path.as_str()
        ),
        (vec![3], "categories/project/anna.md")
    );
    let text = fs::read_to_string(home.absolute_path(&DARK.path())).unwrap();
    home.put("other", text.replace("dark", "pale").as_bytes());
    fs::rename(
        home.absolute_path("other"),
        home.absolute_path(&DARK.path()),
    )
    .unwrap();
    assert_eq!((told("pale"), told("dark")), (vec![1], vec![3]));
    fs::remove_dir_all(home.absolute_path("categories/people")).unwrap();
    fs::remove_file(home.absolute_path(&DEPLOY.path())).unwrap();
    assert_eq!((told("friday"), told("dark")), (vec![0; 0], vec![3]));
    fs::remove_dir_all(home.absolute_path("categories")).unwrap();
    assert_eq!(told("dark pale"), [0; 0]);
}

#[test]
fn folders_may_lie_as_deep_as_anybody_likes() {
    let home = IndexFixture::new();
    let folder = format!("skills{}", "/deeper".repeat(50));
    home.write(&TestNote {
        number: 1,
        folder: &folder,
        body: "at the bottom",
        ..TestNote::default()
    });
    let index = home.index();
    for depth in [
        RefreshDepth::Usual,
        RefreshDepth::Names,
        RefreshDepth::Fresh,
    ] {
        index.refresh(depth).unwrap();
        assert!(index.locate(&id(1)).unwrap().is_some(), "{depth:?}");
    }
    assert_eq!(numbers(&index, "bottom"), [1]);
}

#[test]
fn a_linked_folder_is_reported_and_never_taken_for_an_empty_one() {
    let home = IndexFixture::with(&[DARK]);
    let elsewhere = IndexFixture::with(&[DEPLOY]);
    symlink(
        elsewhere.absolute_path("categories/project"),
        home.absolute_path("categories/project"),
    )
    .unwrap();
    let index = home.index();
    assert_eq!(
        (numbers(&index, "dark"), numbers(&index, "friday")),
        (vec![1], vec![])
    );
    let paths: Vec<_> = index
        .problems()
        .unwrap()
        .into_iter()
        .map(|problem| problem.path)
        .collect();
    assert_eq!(paths, ["categories/project"]);
    let found = super::fixture::search(&index, &super::fixture::query("dark"));
    assert_eq!(
        found.degraded.as_deref(),
        Some("1 file cannot be read; run `memory doctor` to list it")
    );
    let outside = IndexFixture::new();
    fs::remove_dir_all(outside.absolute_path("categories")).unwrap();
    symlink(
        home.absolute_path("categories"),
        outside.absolute_path("categories"),
    )
    .unwrap();
    outside.index().refresh(RefreshDepth::Usual).unwrap_err();
}

#[test]
fn a_file_may_have_any_name_that_a_person_gives_it() {
    let home = IndexFixture::new();
    for name in [
        "Rust: tips.md",
        "a\\b.md",
        "tab\tand escape\u{1b}.md",
        "深色.md",
    ] {
        home.put(
            &format!("categories/knowledge/{name}"),
            b"kept under an odd name\n",
        );
    }
    let found = super::fixture::search(&home.index(), &super::fixture::query("odd name"));
    assert_eq!((found.total, found.degraded), (4, None));
}

#[test]
fn a_reminder_of_which_nobody_can_tell_when_it_is_due_is_named() {
    let home = IndexFixture::with(&[TestNote {
        front: "due: 2024-01-02\n",
        ..DARK
    }]);
    let index = home.index();
    let degraded = |wanted| {
        index.refresh(RefreshDepth::Usual).unwrap();
        index.reminders(wanted, None, None).unwrap().degraded
    };
    assert_eq!(degraded(ReminderQuery::Open), None);
    home.write(&TestNote {
        front: "due: next week\n",
        ..DARK
    });
    let all = [
        ReminderQuery::All,
        ReminderQuery::Open,
        ReminderQuery::Due(chrono::DateTime::UNIX_EPOCH),
    ];
    for wanted in all {
        assert!(
            degraded(wanted).is_some_and(
                |why| why.contains("1 reminder is omitted") && why.contains("next week")
            )
        );
    }
    home.put(
        "categories/reminders/tea.md",
        b"---\nscope: [\n---\nmake tea\n",
    );
    home.put(
        "categories/knowledge/tea.md",
        b"---\nscope: [\n---\ntea is made of leaves\n",
    );
    assert!(
        degraded(ReminderQuery::Open).is_some_and(|why| why.contains("2 reminders are omitted"))
    );
}

#[test]
fn a_reminder_that_a_person_puts_off_is_due_then() {
    let home = IndexFixture::with(&[TestNote {
        front: "due: 2024-01-02\n",
        ..DARK
    }]);
    let index = home.index();
    let due = |day: &str| {
        index.refresh(RefreshDepth::Usual).unwrap();
        let moment = format!("{day}T00:00:00Z").parse().unwrap();
        index
            .reminders(ReminderQuery::Due(moment), None, None)
            .unwrap()
            .total
    };
    assert_eq!((due("2024-01-01"), due("2024-01-02")), (0, 1));
    home.write(&TestNote {
        front: "due: 2024-02-02\n",
        ..DARK
    });
    assert_eq!((due("2024-01-02"), due("2024-02-02")), (0, 1));
}
