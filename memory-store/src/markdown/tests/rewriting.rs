//! Tests of edits.

use chrono::TimeDelta;
use memory_core::{Category, Memory, MemoryId, Origin, Phase, Reminder, Scope, Tags};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::memories::{content, memory, text};
use super::{damaged, modified, read};
use crate::markdown::{decode, encode, rewrite};

const ID: &str =
    "id: 550e8400-e29b-41d4-a716-446655440000\ncreated_at: 2024-01-01\nupdated_at: 2024-01-02\n";

/// Edits a file with this front matter, which also has the keys that would otherwise be added.
#[track_caller]
fn changed(yaml: &str, change: impl Fn(&mut Memory)) -> String {
    let file = format!("---\n{ID}{yaml}---\nbody\n");
    let mut after = read("note.md", &file);
    change(&mut after);
    let rewritten =
        String::from_utf8(rewrite("note.md", file.as_bytes(), &after).unwrap()).unwrap();
    assert_eq!(read("note.md", &rewritten), after);
    let rest = rewritten
        .strip_prefix("---\n")
        .and_then(|rest| rest.strip_prefix(ID))
        .expect("the other keys stay");
    rest.strip_suffix("---\nbody\n")
        .expect("the body stays")
        .to_owned()
}

fn tagged(yaml: &str, tags: &[&str]) -> String {
    changed(yaml, |memory| memory.tags = tags.iter().collect())
}

#[test]
fn a_list_keeps_its_style() {
    assert_eq!(
        tagged("tags: [a, 'b'] # mine\nx: 1.10\n", &["a", "b", "c"]),
        "tags: [a, 'b', c] # mine\nx: 1.10\n"
    );
    assert_eq!(
        tagged("tags: [a, 'b' ]\n", &["b", "c: d"]),
        "tags: ['b', \"c: d\"]\n"
    );
    assert_eq!(tagged("tags: []\n", &["a"]), "tags: [a]\n");
    assert_eq!(
        tagged("tags: [\n  a,\n  b,\n]\n", &["a", "b", "c"]),
        "tags: [\n  a,\n  b, c,\n]\n"
    );
    assert_eq!(
        tagged("tags: [a, # one\n  'b']\n", &["a", "b", "c"]),
        "tags: [a, # one\n  'b', c]\n"
    );
    assert_eq!(
        tagged("tags: [a, # one\n  b # two\n]\n", &["a", "b", "c"]),
        "tags: [a, b, c]\n",
        "a comment ends the line"
    );
    assert_eq!(
        tagged("tags: ['#a', c#]\n", &["#a", "c#", "d"]),
        "tags: ['#a', c#, d]\n"
    );
    assert_eq!(tagged("tags: a, b # c\n", &["a"]), "tags: [a] # c\n");
    assert_eq!(
        tagged("tags: a, b #c #d\n", &["a", "c", "d"]),
        "tags: [a, c, d] #c #d\n"
    );
    assert_eq!(
        tagged("tags: #a\n", &["a", "b"]),
        "tags: #a\n  - a\n  - b\n"
    );
    assert_eq!(tagged("tags: #a\n", &[]), "tags: [] #a\n");
    assert_eq!(tagged("tag: a\n# c\n", &["a", "b"]), "tag: [a, b]\n# c\n");
    assert_eq!(
        tagged(
            "tags: # mine\n- a # first\n\n# note\n- \"b\"\n# end\n\nx: 1\n",
            &["a", "c"]
        ),
        "tags: # mine\n- a # first\n- c\n\n# note\n# end\n\nx: 1\n"
    );
    assert_eq!(
        tagged("tags:\n    - a\n    - b\nx: 1\n", &["b", "a"]),
        "tags:\n    - b\n    - a\nx: 1\n"
    );
    assert_eq!(tagged("tags:\n  - a\nx: 1\n", &[]), "tags: []\nx: 1\n");
    assert_eq!(
        tagged("tags: # none yet\nx: 1\n", &["a"]),
        "tags: # none yet\n  - a\nx: 1\n"
    );
    assert_eq!(
        tagged("tags:\n  [a,\n b]\nx: 1\n", &["c"]),
        "tags:\n  - c\nx: 1\n"
    );
    assert_eq!(tagged("x: 1\n", &["a"]), "x: 1\ntags:\n  - a\n");
    assert_eq!(
        tagged("x: |+\n  1\n\n", &["a"]),
        "x: |+\n  1\n\ntags:\n  - a\n"
    );
    assert_eq!(
        changed("alias: One, Two\n", |memory| memory
            .aliases
            .push("a, b".into())),
        "alias: [One, Two, \"a, b\"]\n"
    );
}

#[test]
fn a_hash_of_the_former_content_is_renewed_and_one_of_others_is_not() {
    let former = memory_core::ContentHash::of("as it was").to_string();
    let own = memory_core::ContentHash::of("body").to_string();
    assert_eq!(
        tagged(&format!("content_hash: {former}\ntags: [a]\n"), &["b"]),
        format!("content_hash: {own}\ntags: [b]\n")
    );
    assert_eq!(
        tagged("content_hash: 73d50be2e3ab95\ntags: [a]\n", &["b"]),
        "content_hash: 73d50be2e3ab95\ntags: [b]\n"
    );
}

#[test]
fn a_text_keeps_its_quotes_and_its_comment() {
    let titled =
        |yaml: &str, title: &str| changed(yaml, |memory| memory.title = Some(title.into()));
    assert_eq!(
        titled("title: Old   # why\n", "New"),
        "title: New   # why\n"
    );
    assert_eq!(
        titled("title: 'Old' # why\n", "It's"),
        "title: 'It''s' # why\n"
    );
    assert_eq!(titled("title: 'Old'\n", "a\nb"), "title: \"a\\nb\"\n");
    assert_eq!(
        titled("\"title\" : \"Old\n\n  # no comment\"\nx: 1\n", "New"),
        "\"title\" : \"New\"\nx: 1\n"
    );
    assert_eq!(
        titled("title: Old\n  and long # why\n# c\nx: 1\n", "yes"),
        "title: \"yes\" # why\n# c\nx: 1\n"
    );
    assert_eq!(
        titled("title: |\n  Old\n  # text\n\n# c\nx: 1\n", "New"),
        "title: New\n\n# c\nx: 1\n"
    );
    assert_eq!(
        titled("title: >2-\n    Old\n   lines\nx: 1\n", "New"),
        "title: New\nx: 1\n"
    );
    assert_eq!(
        titled("title:\n  # below\n  Old\nx: 1\n", "New"),
        "title: New\n  # below\nx: 1\n"
    );
    assert_eq!(titled("title: !!str 12\n", "New"), "title: New\n");
    assert_eq!(
        changed("a: 1\ntitle: Old # why\n# c\nb: 2\n", |memory| memory
            .title =
            None),
        "a: 1\n# c\nb: 2\n"
    );
    assert_eq!(
        changed("x: |+\n  1\ntitle: a\n\n", |memory| memory.title = None),
        "x: |+\n  1\ntitle: null\n\n"
    );
    assert_eq!(
        changed("expires_at: '2024-01-01'\n", |memory| memory.expires_at =
            None),
        "expires_at: null\n"
    );
}

#[test]
fn a_reminder_changes_its_own_lines_only() {
    let reminder = |yaml: &str, change: fn(&mut Reminder)| {
        changed(yaml, |memory| change(memory.reminder.as_mut().unwrap()))
    };
    let done = |reminder: &mut Reminder| reminder.done_at = Some(reminder.due);
    assert_eq!(
        reminder("due: 2024-01-02 # soon\nx: 1\n", done),
        "due: 2024-01-02 # soon\nx: 1\ndone_at: 2024-01-02T00:00:00Z\n"
    );
    let later =
        |reminder: &mut Reminder| *reminder = Reminder::new(reminder.due + TimeDelta::days(1));
    let shown = "due: '2024-01-02' # soon\nnotified_at: 2024-01-02\n";
    assert_eq!(
        reminder(shown, later),
        "due: '2024-01-03T00:00:00Z' # soon\n"
    );
    let moved = |reminder: &mut Reminder| {
        let repeats = reminder.repeats.as_mut().unwrap();
        repeats.snoozed_from = Some(reminder.due);
        reminder.due += TimeDelta::days(1);
    };
    assert_eq!(
        reminder("due: 2024-01-02\nrepeats: every day # or so\n", moved),
        "due: 2024-01-03T00:00:00Z\nrepeats: every day # or so\nsnoozed_from: 2024-01-02T00:00:00Z\n"
    );
    // A list is the user's own.
    assert_eq!(
        reminder("due: 2024-01-02\nrepeats: [a, 1]\n", done),
        "due: 2024-01-02\nrepeats: [a, 1]\ndone_at: 2024-01-02T00:00:00Z\n"
    );
    assert_eq!(
        changed("pinned: false # yet\n", |memory| memory.pinned = true),
        "pinned: true # yet\n"
    );
    assert_eq!(
        changed("done_at: 2024-01-02\n", |memory| memory.title =
            Some("a".into())),
        "done_at: 2024-01-02\ntitle: a\n"
    );
}

#[test]
fn a_summary_says_where_the_whole_text_went_and_an_authors_own_word_stays() {
    let summarised = |memory: &mut Memory| memory.summarised_by = "0123456789ab".parse().ok();
    assert_eq!(
        changed("a: 1\n", summarised),
        "a: 1\nsummarised_by: 0123456789ab\n"
    );
    assert_eq!(
        changed("a: 1\n", |memory| memory.summarised_by =
            "001122334455".parse().ok()),
        "a: 1\nsummarised_by: \"001122334455\"\n"
    );
    let own = "summarised_by: Anna\n";
    assert_eq!(
        changed(own, |memory| memory.title = Some("a".into())),
        format!("{own}title: a\n")
    );
}

#[test]
fn a_version_of_the_author_stays() {
    assert_eq!(
        changed("version: 1.10\n", |memory| memory.version = 2),
        "version: 1.10\nmemory_version: 2\n"
    );
    assert_eq!(
        changed("version: 1.10\nmemory_version: 2\n", |memory| memory
            .version =
            3),
        "version: 1.10\nmemory_version: 3\n"
    );
    assert_eq!(
        changed("version: 1\n", |memory| memory.version = 2),
        "version: 2\n"
    );
}

#[test]
fn a_file_without_front_matter_gets_one() {
    let mut after = read("note.md", "\u{feff}one\r\ntwo");
    after.tags = ["a"].into_iter().collect();
    let file =
        String::from_utf8(rewrite("note.md", "\u{feff}one\r\ntwo".as_bytes(), &after).unwrap())
            .unwrap();
    assert!(
        file.starts_with("\u{feff}---\r\nid: ")
            && file.ends_with("version: 1\r\n---\r\none\r\ntwo"),
        "{file}"
    );
    assert!(!file.replace("\r\n", "").contains('\n'));
    let file = rewrite("note.md", b"", &read("note.md", "")).unwrap();
    assert_eq!(read("note.md", file).content, "");
}

#[test]
fn what_followed_from_path_and_age_is_written_down() {
    let file = "---\r\ntitle: a\r\n---\r\nb";
    let mut after = read("categories/inbox/a.md", file);
    (after.phase, after.category) = (Phase::Organized, Category::People);
    let rewritten =
        String::from_utf8(rewrite("categories/people/a.md", file.as_bytes(), &after).unwrap())
            .unwrap();
    let id = MemoryId::for_path("categories/inbox/a.md");
    let date = "2020-02-02T02:02:02Z";
    assert_eq!(
        rewritten,
        format!(
            "---\r\ntitle: a\r\nid: {id}\r\ncreated_at: {date}\r\nupdated_at: {date}\r\n---\r\nb"
        )
    );

    let moved = changed("phase: inbox # new\ncategory: inbox\n", |memory| {
        (memory.phase, memory.category) = (Phase::Organized, Category::People);
    });
    assert_eq!(moved, "phase: organized # new\ncategory: people\n");
}

#[test]
fn content_changes_the_body_and_the_hash() {
    let file = format!(
        "---\r\n{}content_hash: stale\r\n---\r\nold\r\n",
        ID.replace('\n', "\r\n")
    );
    let mut after = read("note.md", &file);
    assert_eq!(
        rewrite("note.md", file.as_bytes(), &after).unwrap(),
        file.as_bytes()
    );
    after.content = "new\nlines".into();
    let expected = file
        .replace("stale", &after.content_hash().to_string())
        .replace("old\r\n", "new\nlines\r\n");
    assert_eq!(
        String::from_utf8(rewrite("note.md", file.as_bytes(), &after).unwrap()).unwrap(),
        expected
    );
    let mut after = read("note.md", "---\ntitle: a\n---");
    after.content = "new\r".into();
    assert_eq!(
        read(
            "note.md",
            rewrite("note.md", b"---\ntitle: a\n---", &after).unwrap()
        ),
        after
    );
}

#[test]
fn what_cannot_be_changed_without_harm_is_refused() {
    for yaml in [
        "? [a, b]\n: c",
        "{title: a, tags: [b]}",
        "  title: a\n  x: b",
        "tags: &t [a]\nx: *t",
        "tags: [a]\n...",
        "tags: [a]\ntag: b\n",
        "origin: {source: a, root: b, path: c, mine: d}",
        "x: 1\ry: 2",
    ] {
        let file = format!("---\n{yaml}\n---\nbody\n");
        let mut after = read("note.md", &file);
        after.tags = ["z"].into_iter().collect();
        after.origin = Some(Origin {
            source: "x".into(),
            root: String::new(),
            path: String::new(),
            hash: None,
        });
        let problem = rewrite("note.md", file.as_bytes(), &after).unwrap_err();
        assert!(
            ["cannot be edited", "cannot be updated"]
                .iter()
                .any(|why| problem.what.contains(why)),
            "{yaml:?}: {problem}"
        );
    }
    let (memory, problem) = damaged("---\ntitle: a\ntitle: b\n---\n");
    assert_eq!(
        rewrite("note.md", b"---\ntitle: a\ntitle: b\n---\n", &memory),
        Err(problem)
    );
}

/// Generates a change of one field.
fn change() -> impl Strategy<Value = Memory> {
    memory()
}

fn apply(field: usize, from: &Memory, to: &mut Memory) {
    match field {
        0 => to.tags = from.tags.clone(),
        1 => to.title.clone_from(&from.title),
        2 => to.aliases.clone_from(&from.aliases),
        3 => to.version = from.version,
        4 => to.links.clone_from(&from.links),
        5 => to.expires_at = from.expires_at,
        6 => to.origin.clone_from(&from.origin),
        7 => to.source.clone_from(&from.source),
        8 => to.content.clone_from(&from.content),
        9 => to.tags = to.tags.with(&["added"].into_iter().collect::<Tags>()),
        10 => to.tags = to.tags.iter().skip(1).collect(),
        11 => to.scope = Scope::Agent("a b".into()),
        12 => to.superseded_by = from.superseded_by,
        13 => to.reminder = from.reminder.clone(),
        15 => to.role = from.role,
        14 => to.pinned = from.pinned,
        _ => to.updated_at = from.updated_at,
    }
}

const OURS: [&str; 33] = [
    "tags: [a, b]",
    "tags: a, b # c",
    "tags:\n  - a\n  # note\n  - 'b'",
    "tags:\n- a\n- b",
    "tags: [\n  a,\n b ]",
    "tags:",
    "tags: []",
    "tag: a",
    "tags: #a",
    "tags: a #b",
    "title: Plain # why",
    "title: 'It''s' # why",
    "title: \"a\\\"b\"",
    "title: |\n  a\n\n  # b",
    "title: >-\n  a\n  b",
    "title: long\n  # c",
    "title:\n  below",
    "aliases: [One, \"Two, three\"]",
    "alias: One",
    "aliases:\n  - One",
    "version: 1.10",
    "version: 3",
    "\"version\": '3'",
    "expires_at: null",
    "source: x#y # z",
    "content_hash: abc",
    "scope: project:x",
    "pinned: false # yet",
    "role: assistant # chat",
    "role: engineer",
    "due: 2024-01-02 # soon",
    "done_at: 2024-01-02",
    "origin:\n  source: a\n  root: b\n  path: c",
];

const OTHERS: [&str; 19] = [
    "# comment",
    "",
    "   ",
    " # indented comment",
    "date: 2024-01-02",
    "time: 12:30",
    "up: [[Parent Note]]",
    "nested:\n  a:\n    - b: c\n      # d\n  e: f",
    "text: |+\n  a\n\n   b\n",
    "folded: >\n  a\n  # no comment\n  b",
    "flow: {a: [b, \"c}\"], 'd': it's} # e",
    "文: 字",
    "\"🏷️\": tag",
    "quoted: \"a\n  b # c\"",
    "empty:",
    "?x: y",
    "anchor: &a {b: c}",
    "bin: !!binary aGk=",
    "url: https://x.y/#z",
];

proptest! {
    #[test]
    fn a_change_leaves_every_other_line(
        ours in vec(select(&OURS[..]), 0..4), others in vec(select(&OTHERS[..]), 0..6), seed in any::<u64>(), from in change(),
        field in 0..17_usize, has_mark in any::<bool>(), newline in select(&["\n", "\r\n"][..]), body in content(),
    ) {
        let mut order = seed;
        let mut lines: Vec<&str> = ours.iter().chain(&others).copied().collect();
        for place in (1..lines.len()).rev() {
            order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            lines.swap(place, usize::try_from(order >> 33).unwrap() % (place + 1));
        }
        let mark = if has_mark { "\u{feff}" } else { "" };
        let yaml: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let front = format!("---\n{ID}{yaml}---\n").replace('\n', newline);
        let file = format!("{mark}{front}{body}");
        let parsed = decode("note.md", file.as_bytes(), modified());
        let mut after = parsed.memory.clone();
        apply(field, &from, &mut after);
        let rewritten = match rewrite("note.md", file.as_bytes(), &after) {
            Ok(rewritten) => String::from_utf8(rewritten).unwrap(),
            Err(problem) => {
                // A valid file can be edited, unless it has two keys for one field.
                let is_double = yaml.contains("tag:") && yaml.contains("tags:") || yaml.contains("alias:") && yaml.contains("aliases:");
                prop_assert!(parsed.problem == Some(problem.clone()) || is_double, "{}\n{:?}", problem, file);
                return Ok(());
            }
        };
        prop_assert_eq!(parsed.problem, None);
        prop_assert_eq!(&decode("note.md", rewritten.as_bytes(), modified()).memory, &after);
        if parsed.memory == after {
            prop_assert_eq!(&rewritten, &file);
        }
        prop_assert!(rewritten.starts_with(mark));
        if after.content == parsed.memory.content {
            let end = format!("---{newline}{body}");
            prop_assert!(rewritten.ends_with(&end));
        }
        let mut rest = rewritten.as_str();
        for line in lines.iter().filter(|line| OTHERS.contains(line)) {
            let line = format!("{line}\n").replace('\n', newline);
            let place = rest.find(&line);
            prop_assert!(place.is_some(), "{:?} is gone from {:?}", line, rewritten);
            rest = &rest[place.unwrap() + line.len()..];
        }
        if newline == "\r\n" && after.content == parsed.memory.content {
            let front = rewritten.strip_suffix(&body).unwrap();
            prop_assert!(!front.replace("\r\n", "").contains('\n'));
        }
    }

    #[test]
    fn any_memory_becomes_any_other(before in memory(), after in memory(), tag in text()) {
        let mut after = after;
        after.tags = after.tags.with(&[tag].into_iter().collect());
        let rewritten = rewrite("note.md", encode(&before, "x: 1 # mine\n").as_bytes(), &after).unwrap();
        prop_assert_eq!(decode("note.md", &rewritten, modified()).memory, after);
        prop_assert!(String::from_utf8(rewritten).unwrap().contains("\nx: 1 # mine\n"));
    }
}
