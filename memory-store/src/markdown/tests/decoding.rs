//! Tests of parsing.

use memory_core::{Category, Memory, MemoryId, Phase, Recurrence, Reminder, Scope};
use proptest::prelude::*;

use super::{damaged, modified, read};
use crate::markdown::{decode, path_category};

fn fields(yaml: &str) -> Memory {
    read("note.md", format!("---\n{yaml}\n---\nbody\n"))
}

fn fault(yaml: &str) -> (Option<usize>, String) {
    let (memory, problem) = damaged(format!("---\n{yaml}\n---\nbody\n"));
    assert_eq!(memory.content, "body");
    assert!(problem.hint.is_some());
    (problem.line, problem.what)
}

#[test]
fn a_file_without_front_matter_is_all_content() {
    for text in [
        "",
        "a",
        "a\n---\nb: c\n---\n",
        "\n---\na: b\n---\n",
        "----\na: b\n----\n",
        " ---\na: b\n---\n",
        "---\ra: b\r---\rc",
    ] {
        let memory = read("note.md", text);
        assert_eq!(memory.content, text.strip_suffix('\n').unwrap_or(text));
        assert_eq!(
            (memory.id, memory.version, memory.scope),
            (MemoryId::for_path("note.md"), 1, Scope::Global)
        );
        assert_eq!(
            (memory.created_at, memory.updated_at),
            (modified(), modified())
        );
        assert_eq!(
            (memory.phase, memory.category),
            (Phase::Inbox, Category::Inbox)
        );
    }
    assert_eq!(
        read("note.md", "\u{feff}\u{feff}---\na: b\n---\n").content,
        "\u{feff}---\na: b\n---"
    );
}

#[test]
fn the_content_is_the_body_without_its_last_line_break() {
    for (file, content) in [
        ("---\ntitle: a\n---\nb", "b"),
        ("---\ntitle: a\n---\nb\n", "b"),
        ("---\ntitle: a\n---\nb\n\n", "b\n"),
        ("---\r\ntitle: a\r\n---\r\nb\r\n\r\n", "b\r\n"),
        ("---\r\ntitle: a\n--- \t\r\nb\r\nc\n", "b\r\nc"),
        ("\u{feff}---  \ntitle: a\n---\n\nb\n", "\nb"),
        ("---\ntitle: a\n---", ""),
        ("---\ntitle: a\n---\n---\nx: y\n---\n", "---\nx: y\n---"),
    ] {
        let memory = read("note.md", file);
        assert_eq!(
            (memory.content.as_str(), memory.title.as_deref()),
            (content, Some("a")),
            "{file:?}"
        );
    }
    for empty in [
        "---\n---\nb\n",
        "---\n# only\n\n  # comments\n---\nb",
        "---\n~\n---\nb",
    ] {
        assert_eq!(read("note.md", empty).content, "b");
    }
}

#[test]
fn tags_and_aliases_are_read_in_every_form() {
    for yaml in [
        "tags: [a, B, 1.10, true]",
        "tags:\n- a\n- '#B'\n- 1.10\n- true",
        "tags: a, B 1.10 #true",
        "tag: [a, '#B']\ntags: ''\nx: &t [1.10, [true]]\nalias: One\n# c",
        "tags: &x [[a], B, ~, 1.10, true]\naliases: null",
    ] {
        let tags = fields(yaml).tags;
        assert_eq!(tags.as_slice()[..2], ["a", "B"], "{yaml}");
        assert!(
            tags.as_slice().len() == 2 || tags.as_slice()[2..] == ["1.10", "true"],
            "{yaml}"
        );
    }
    for (yaml, tags) in [
        ("tags: #a #b", vec!["a", "b"]),
        ("x: 1\ntags: a  #b,#c\ny: 2", vec!["a", "b", "c"]),
        ("tags: a # b", vec!["a"]),
        ("tags: a #b later", vec!["a"]),
        ("tags: [a] #b", vec!["a"]),
        ("tags:\n  #b\n  - a #b", vec!["a"]),
        ("tags: #b\n  - a", vec!["a"]),
    ] {
        assert_eq!(fields(yaml).tags.as_slice(), tags, "{yaml}");
    }
    assert_eq!(
        fields("aliases: One, Two words").aliases,
        ["One", "Two words"]
    );
    assert_eq!(
        fields("alias: [One, 2024, 'a, b']").aliases,
        ["One", "2024", "a, b"]
    );
    assert_eq!(
        fields("tags:\naliases:\ntitle:\nid: ''\nversion:").title,
        None
    );
}

#[test]
fn texts_that_look_like_numbers_stay_as_they_are_spelled() {
    assert_eq!(fields("title: 1.10").title.unwrap(), "1.10");
    assert_eq!(
        fields("source: 0x1F\ntitle: 99999999999999999999999999999999999999999").source,
        "0x1F"
    );
    assert_eq!(fields("title: !custom yes").title.unwrap(), "yes");
    assert_eq!(
        fields("base: &b Name\ntitle: *b\n<<: {x: 1}")
            .title
            .unwrap(),
        "Name"
    );
    assert_eq!(
        fields("title: a\u{2028}b\u{85}c\u{feff}\u{e000}")
            .title
            .unwrap(),
        "a\u{2028}b\u{85}c\u{feff}\u{e000}"
    );
    assert_eq!(
        fields("title: |\n  a\n  b\n  \nx: !!binary aGk=")
            .title
            .unwrap(),
        "a\nb\n"
    );
}

#[test]
fn dates_are_read_in_every_form() {
    for (form, expected) in [
        ("2024-01-02", "2024-01-02T00:00:00Z"),
        ("2024-01-02 03:04", "2024-01-02T03:04:00Z"),
        ("2024-01-02T03:04:05", "2024-01-02T03:04:05Z"),
        ("2024-01-02 03:04:05.25", "2024-01-02T03:04:05.25Z"),
        ("2024-01-02T03:04:05+08:00", "2024-01-01T19:04:05Z"),
        ("2024-01-02 03:04:05 +0800", "2024-01-01T19:04:05Z"),
        (
            "\"2024-01-02T03:04:05.123456789Z\"",
            "2024-01-02T03:04:05.123456789Z",
        ),
    ] {
        let memory = fields(&format!(
            "created_at: {form}\nupdated: {form}\nvalid_from: {form}"
        ));
        let expected = expected.parse().unwrap();
        assert_eq!(
            (memory.created_at, memory.updated_at, memory.valid_from),
            (expected, expected, Some(expected)),
            "{form}"
        );
    }
    assert_eq!(
        fields("date: 2024-01-02\ncreated: soon")
            .created_at
            .to_string(),
        "2024-01-02 00:00:00 UTC"
    );
    assert_eq!(fields("date: someday").created_at, modified());
    // Years that RFC 3339 cannot represent.
    for year in [
        "-026-05-07",
        "-0001-12-31",
        "+12026-05-07",
        "0000-01-01T00:00:00+01:00",
    ] {
        assert_eq!(
            fields(&format!("date: {year}")).created_at,
            modified(),
            "{year}"
        );
    }
}

#[test]
fn a_reminder_is_what_has_a_time_when_it_is_due() {
    let due = "2024-01-02T03:04:05Z".parse().unwrap();
    assert_eq!(
        fields("due: 2024-01-02T03:04:05Z").reminder,
        Some(Reminder::new(due))
    );
    let id = "550e8400-e29b-41d4-a716-446655440000";
    let whole = fields(&format!(
        "due: 2024-01-02 03:04:05\nreminds: {id}\nnotified_at: 2024-01-02T03:04:05Z\ndone_at: null"
    ));
    let reminder = Reminder {
        of: id.parse().ok(),
        notified_at: Some(due),
        ..Reminder::new(due)
    };
    assert_eq!(whole.reminder, Some(reminder));
    assert_eq!(fields("due:\ndone_at: 2024-01-02").reminder, None);
    let repeats = |yaml: &str| fields(yaml).reminder.and_then(|reminder| reminder.repeats);
    let weekly = Recurrence::new("every Monday at 9");
    assert_eq!(
        repeats("due: 2024-01-02\nrepeats: every Monday at 9"),
        Some(weekly.clone())
    );
    assert_eq!(
        repeats("due: 2024-01-02\nrepeats: every Monday at 9\nsnoozed_from: 2024-01-02T03:04:05Z"),
        Some(Recurrence {
            snoozed_from: Some(due),
            ..weekly
        })
    );
    assert_eq!(repeats("due: 2024-01-02\nsnoozed_from: 2024-01-02"), None);
}

#[test]
fn a_summary_names_the_operation_that_put_it_there_and_an_authors_own_word_is_no_damage() {
    let id = "00112233e556".parse().ok();
    assert_eq!(fields("summarised_by: '00112233e556'").summarised_by, id);
    assert_eq!(fields("summarised_by: 00112233e556").summarised_by, id);
    assert_eq!(fields("summarised_by: Anna").summarised_by, None);
}

#[test]
fn a_memory_is_pinned_if_its_file_says_so() {
    let all = [
        ("pinned: true", true),
        ("pinned: 'Yes'", true),
        ("pinned: false", false),
        ("pinned:", false),
        ("x: 1", false),
    ];
    for (yaml, is_pinned) in all {
        assert_eq!(fields(yaml).pinned, is_pinned, "{yaml}");
    }
}

#[test]
fn keys_of_the_author_make_no_proposal() {
    let id = MemoryId::for_path("other");
    for yaml in [
        "proposed_by: Anna".to_owned(),
        "proposed_by: Anna\nproposed_action: repaint".to_owned(),
        "proposed_by: [Anna, Bob]\nproposed_for: kitchen\nproposed_base: cream".to_owned(),
        "proposed_action: write".to_owned(),
        format!("proposed_by: Anna\nproposed_action: update\nproposed_for: {id}"),
    ] {
        assert_eq!(fields(&yaml).proposal, None, "{yaml}");
    }
    let proposed = fields("proposed_by: codex\nproposed_action: write")
        .proposal
        .expect("a proposal");
    assert_eq!(proposed.by, "codex");
    assert!(
        fields("proposed_by: [codex]\nproposed_action: write").is_proposal(),
        "it still waits"
    );
}

#[test]
fn a_version_of_the_author_is_no_version_of_ours() {
    for version in ["1.10", "'1.10'", "v2.3.1"] {
        assert_eq!(fields(&format!("version: {version}")).version, 1);
        assert_eq!(
            fields(&format!("version: {version}\nmemory_version: 7")).version,
            7
        );
    }
    assert_eq!(fields("version: '3'").version, 3);
}

#[test]
fn the_folder_decides_what_a_person_sees() {
    let file = "---\nphase: inbox\ncategory: people\n---\n";
    let of = |path: &str| {
        let memory = read(path, file);
        (memory.phase, memory.category)
    };
    assert_eq!(
        of("categories/knowledge/a.md"),
        (Phase::Organized, Category::Knowledge)
    );
    assert_eq!(
        of("categories/inbox/a.md"),
        (Phase::Inbox, Category::People)
    );
    assert_eq!(of("elsewhere/a.md"), (Phase::Inbox, Category::People));
    assert_eq!(
        path_category("categories/knowledge/below/a.md"),
        Some(Category::Knowledge)
    );
    assert_eq!(
        path_category("categories/a.md").or(path_category("categories/other/a.md")),
        None
    );
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (yaml, line, words) in [
        (
            "title: a\nversion: many",
            Some(3),
            "`version` is \"many\", not a whole number",
        ),
        (
            "created_at: soon",
            Some(2),
            "`created_at` is \"soon\", not a date",
        ),
        (
            "due: next week",
            Some(2),
            "`due` is \"next week\", not a date",
        ),
        (
            "due: 2024-01-02\nreminds: Anna",
            Some(3),
            "`reminds` is \"Anna\", not an id",
        ),
        (
            "pinned: maybe",
            Some(2),
            "`pinned` is \"maybe\", not true or false",
        ),
        ("phase: maybe", Some(2), "`phase` is \"maybe\", not a phase"),
        ("x: 1\n\nid: 12", Some(4), "`id` is \"12\", not an id"),
        (
            "links: [here]",
            Some(2),
            "`links` contains \"here\", which is not an id",
        ),
        ("tags: [{a: b}]", Some(2), "`tags` contains a map"),
        ("title: [a]", Some(2), "`title` is a list"),
        ("origin: /tmp", Some(2), "`origin` is not a map"),
        (
            "title: a\ntags:\n\t- a",
            Some(4),
            "not valid YAML: found character that cannot start any token",
        ),
        (
            "a: 1\ntitle: \"Open\ntags: [a]",
            Some(3),
            "found unexpected end of stream",
        ),
        (
            "title: a\nx: 1\ntitle: b",
            Some(4),
            "`title` is duplicated in the front matter",
        ),
        ("x:\n  y: 1\n  y: 2", Some(2), "`y` is duplicated"),
        ("a: \u{1}", None, "control characters are not allowed"),
        ("a: b\n--- c", None, "more than one document"),
        ("a: *b", Some(2), "unknown anchor"),
        ("title:x\na: b", Some(3), "not valid YAML"),
    ] {
        let (at, what) = fault(yaml);
        assert!(what.contains(words), "{yaml:?}: {what}");
        assert!(line.is_none() || at == line, "{yaml:?}: {at:?} {what}");
    }
}

#[test]
fn what_can_be_read_of_a_damaged_file_is_read() {
    let (memory, _) = damaged(
        "---\ntitle: \"Open\ntags: [a]\nid: 550e8400-e29b-41d4-a716-446655440000\n---\nbody",
    );
    assert_eq!(
        (memory.tags.as_slice(), memory.id.short().as_str()),
        (&["a".to_owned()][..], "550e8400")
    );
    let (memory, problem) = damaged("---\ntitle: Re: the plan\ntags:\n  - mail\n---\nbody");
    assert_eq!(
        (
            memory.title.as_deref(),
            memory.tags.as_slice(),
            problem.line
        ),
        (Some("Re: the plan"), &["mail".to_owned()][..], Some(2))
    );
    let (memory, problem) = damaged("---\ntitle: a\nbody\n");
    assert_eq!(
        (memory.content.as_str(), memory.title, problem.line),
        ("---\ntitle: a\nbody", None, Some(1))
    );
    let (memory, _) = damaged("---\n- a\n---\nbody\n");
    assert_eq!(memory.content, "---\n- a\n---\nbody");
    let (memory, problem) = damaged(b"---\ntitle: a\n---\nb\xffc\n");
    assert_eq!(
        (
            memory.content.as_str(),
            memory.title.as_deref(),
            problem.line
        ),
        ("b\u{fffd}c", Some("a"), Some(4))
    );
    let (memory, problem) = damaged(b"---\ntitle: \xff\n---\nb");
    assert_eq!(
        (
            memory.content.as_str(),
            memory.title.as_deref(),
            problem.line
        ),
        ("b", Some("\u{fffd}"), Some(2))
    );
    let (memory, problem) = damaged("---\ntitle: a\n---\nb\0c");
    assert_eq!(
        (
            memory.content.as_str(),
            memory.title.as_deref(),
            problem.line
        ),
        ("b\0c", Some("a"), Some(4))
    );
    let utf16: Vec<u8> = "\u{feff}---\r\ntitle: 中\r\n---\r\nb"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let (memory, problem) = damaged(utf16);
    assert_eq!(
        (
            memory.content.as_str(),
            memory.title.as_deref(),
            problem.line
        ),
        ("b", Some("中"), Some(1))
    );
}

#[test]
fn a_bomb_takes_neither_time_nor_memory() {
    let long = 1 << 20;
    for yaml in [
        format!(
            "a: &a [{}]\nb: [{}]",
            "1,".repeat(long / 8),
            "*a,".repeat(long / 6)
        ),
        format!(
            "a: &a \"{}\"\nb: [{}]",
            "x".repeat(long / 2),
            "*a,".repeat(long / 8)
        ),
        "[".repeat(long - 1),
        "{a: \"}\",b: ".repeat(long / 12),
        "- ".repeat(long / 3),
        format!("a: {}", "x".repeat(long)),
        "a: &a [*a, *a, *a, *a]".into(),
        (0..200)
            .flat_map(|depth| [" ".repeat(depth), "a:\n".to_owned()])
            .collect(),
    ] {
        // Expanding these aliases would not finish in any reasonable time.
        let (memory, _) = damaged(format!("---\n{yaml}\n---\nbody\n"));
        assert!(memory.content.ends_with("body"));
    }
    assert_eq!(
        fields("a: &a [x, x]\nb: [*a, *a]\ntags: *a")
            .tags
            .as_slice(),
        ["x"]
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        decode("note.md", &bytes, modified());
    }

    #[test]
    fn any_front_matter_is_read(yaml in "([a-z]{1,3}|tags|title|id|[\u{0}-\u{20}:\\[\\]{}#&*!|>'\"%@,?-]|\\PC){0,40}") {
        let parsed = decode("note.md", format!("---\n{yaml}\n---\nbody").as_bytes(), modified());
        prop_assert!(parsed.memory.content.ends_with("body"));
    }
}
