use memory_core::SourceError;
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{
    IngestSandbox, assert_edited_note_is_found, assert_notes_are_stable, ingest_states, moment,
    note_paths, survey_source,
};

const LIST: &str = r#"{"color":"RED","isTrashed":false,"isPinned":true,"isArchived":true,"title":"買い物 🛒",
    "listContent":[{"text":"milk\n2 l","isChecked":true},{"text":"bread","textHtml":"<p>bread</p>","isChecked":false}],
    "labels":[{"name":"home stuff"},{"name":"food"}],"sharees":[{"email":"a@example.org","isOwner":true},{"email":"b@example.org"}],
    "createdTimestampUsec":1717378714000123,"userEditedTimestampUsec":1717378894000000}"#;

const TEXT: &str = r#"{"isTrashed":false,"title":"","textContent":"line 1\r\nsee https://a.org\ud83d\ude00","unknown":{"x":1},
    "annotations":[{"source":"WEBLINK","title":"A","url":"https://a.org"},{"title":"B [b]","url":"https://b.org/(x)"}],
    "attachments":[{"filePath":"pic.png","mimetype":"image/png"}],"createdTimestampUsec":1717378714000123}"#;

#[test]
fn texts_in_html_are_read() {
    let note = |created: u64, text: &str, html: &str| {
        format!(
            "{{\"textContent\":{text},\"textContentHtml\":\"{html}\",\"createdTimestampUsec\":{created}}}"
        )
    };
    let only = note(
        1,
        "\"\"",
        "<p dir='ltr'><span>milk &amp; tea</span></p><p><span>bread</span></p>",
    );
    let styled = note(
        2,
        "\"Plan\\nnow\"",
        "<h1><span style='font-weight:400'>Plan</span></h1><p><span style='font-weight:700'>now</span></p>",
    );
    let plain = note(
        3,
        "\"a_b\\n  *c\"",
        "<p><span>a_b</span></p><p><span>  *c</span></p>",
    );
    let list =
        r#"{"listContent":[{"textHtml":"<p>egg</p>","isChecked":true}],"createdTimestampUsec":4}"#;
    let nothing_else = r#"{"textContentHtml":"<p>x</p>","createdTimestampUsec":5}"#;
    let export = IngestSandbox::new(&[
        ("1.json", &only),
        ("2.json", &styled),
        ("3.json", &plain),
        ("4.json", list),
        ("5.json", nothing_else),
    ]);
    let found = export.survey(SourceName::Keep);
    let texts: Vec<_> = found
        .notes
        .iter()
        .map(|note| note.draft.content.as_str())
        .collect();
    let expected = [
        "milk & tea\nbread",
        "# Plan\n**now**",
        "a_b\n  *c",
        "- [x] egg",
        "x",
    ];
    assert_eq!(texts, expected);
    assert_eq!(found.skipped, []);
}

#[test]
fn notes_are_read_and_the_trash_is_left_out() {
    let export = IngestSandbox::new(&[
        ("Takeout/Keep/買い物.json", LIST),
        ("Takeout/Keep/2024-06-03.json", TEXT),
        (
            "Takeout/Keep/deleted.json",
            r#"{"isTrashed":true,"textContent":"gone","createdTimestampUsec":1}"#,
        ),
        (
            "Takeout/Keep/empty.json",
            r#"{"title":null,"textContent":" ","createdTimestampUsec":2}"#,
        ),
        (
            "Takeout/Keep/title.json",
            r#"{"title":"only a title","textContent":"","createdTimestampUsec":0}"#,
        ),
        (
            "Takeout/Keep/odd.json",
            r#"{"title":5,"textContent":["x"],"listContent":{"a":1},"createdTimestampUsec":"soon"}"#,
        ),
        ("Takeout/Keep/broken.json", "{\"title\": "),
        ("Takeout/Keep/Labels.txt", "food"),
        ("Takeout/Keep/pic.png", "x"),
        ("Takeout/Other/data.json", "[1, 2]"),
    ]);
    assert_eq!(
        SourceName::detect_within(&export.path()),
        [(SourceName::Keep, export.path().join("Takeout/Keep"))]
    );
    let found = export.survey(SourceName::Keep);
    let list = found
        .notes
        .iter()
        .find(|note| note.draft.title.as_deref() == Some("買い物 🛒"))
        .expect("the list");
    assert_eq!(list.draft.content, "- [x] milk\n  2 l\n- [ ] bread");
    assert_eq!(
        (list.draft.tags.as_slice(), list.draft.pinned),
        (
            &["home stuff", "food", "archived"].map(str::to_owned)[..],
            true
        )
    );
    assert_eq!(
        list.draft.created_at,
        Some(moment("2024-06-03T01:38:34.000123Z"))
    );
    assert_eq!(list.updated_at, Some(moment("2024-06-03T01:41:34Z")));
    assert_eq!(
        list.front_matter,
        "keep_color: \"RED\"\nkeep_owner: [\"a@example.org\"]\nkeep_shared_with: [\"b@example.org\"]\n"
    );
    let text = found.note("1717378714000123 2024-06-03");
    assert_eq!(text.draft.title, None);
    assert_eq!(
        text.draft.content,
        "line 1\r\nsee https://a.org😀\n\n- [B  b ](<https://b.org/(x)>)\n\n[file: pic.png]"
    );
    assert!(
        text.front_matter.ends_with("keep_unknown: {\"x\":1}\n"),
        "{}",
        text.front_matter
    );
    assert!(
        text.front_matter
            .contains("\"title\":\"A\",\"url\":\"https://a.org\""),
        "{}",
        text.front_matter
    );
    assert_eq!((text.updated_at, text.draft.pinned), (None, false));
    assert_eq!(
        (
            found.note("title").draft.content.as_str(),
            found.note("title").draft.created_at
        ),
        ("only a title", None)
    );
    assert_eq!(found.note("soon").draft.title.as_deref(), Some("5"));
    let mut skipped: Vec<_> = found
        .skipped
        .iter()
        .map(|(path, reason)| (path.as_str(), reason.as_str()))
        .collect();
    skipped.sort_unstable();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
    assert!(skipped[0].1.starts_with("is not a JSON object"));
    assert_eq!(
        skipped[1..],
        [
            ("Takeout/Keep/deleted.json", "is in the trash"),
            ("Takeout/Keep/empty.json", "is empty")
        ]
    );
    assert_eq!(
        (found.report.new, found.again.new, found.again.unchanged),
        (4, 0, 4)
    );
}

#[test]
fn every_form_of_an_export_has_the_same_notes() {
    let other = LIST.replace("買い物 🛒", "the same time");
    let files = [
        ("Takeout/Keep/a.json", LIST),
        // The names of files are titles, which may begin with a point.
        ("Takeout/Keep/.b.json", other.as_str()),
        ("Takeout/Keep/._a.json", "x"),
        (
            "Takeout/Keep/without time.json",
            r#"{"title":"none","textContent":"x"}"#,
        ),
        ("Takeout/Keep/broken.json", "{\"title\": "),
        ("Takeout/Keep/other.json", "{\"x\":1}"),
    ];
    let export = IngestSandbox::new(&files);
    crate::chatgpt::write_zip(&export.path().join("takeout.zip"), &files);
    let zip = IngestSandbox::new(&[]);
    crate::chatgpt::write_zip(&zip.path().join("takeout.zip"), &files);
    for path in [
        export.path(),
        export.path().join("Takeout/Keep"),
        zip.path().join("takeout.zip"),
        zip.path(),
    ] {
        let found = survey_source(SourceName::Keep, &path);
        assert_eq!(
            note_paths(&found),
            ["1717378714000123 .b", "1717378714000123 a", "without time"],
            "{}",
            path.display()
        );
        assert_eq!(found.note("without time").draft.created_at, None);
        let mut reasons: Vec<_> = found
            .skipped
            .iter()
            .map(|(_, reason)| &reason[..13])
            .collect();
        reasons.sort_unstable();
        assert_eq!(
            reasons,
            ["is not a JSON", "is not a note"],
            "{}",
            path.display()
        );
    }
}

#[test]
fn other_json_files_are_not_recognized() {
    let folder = IngestSandbox::new(&[("a.json", "{\"title\": \"x\"}")]);
    let opened = open(SourceName::Keep, &folder.path(), &SourceOptions::default());
    assert!(matches!(opened, Err(SourceError::NotRecognized { .. })));
}

#[test]
fn a_new_note_with_the_time_and_the_name_of_others_leaves_their_memories() {
    let note = |text: &str| {
        format!(r#"{{"title":"T","textContent":"{text}","createdTimestampUsec":1717378714000123}}"#)
    };
    let files = |texts: &[&str]| {
        let path = |number: usize| {
            if number == 0 {
                "Keep/T.json".into()
            } else {
                format!("Keep/T({number}).json")
            }
        };
        let files: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(number, text)| (path(number), note(text)))
            .collect();
        IngestSandbox::new(
            &files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str()))
                .collect::<Vec<_>>(),
        )
    };
    assert_notes_are_stable(
        SourceName::Keep,
        &files(&["a"]),
        &files(&["a", "b"]),
        &files(&["new", "a", "b"]),
    );
    assert_edited_note_is_found(
        SourceName::Keep,
        &files(&["a", "b", "c"]),
        &files(&["a", "edited", "c"]),
    );
    // A changed number of a file is part of the origin of its memory.
    assert_eq!(
        ingest_states(
            SourceName::Keep,
            &[&files(&["a", "b", "c"]), &files(&["edited", "a", "c"])]
        ),
        [(3, 0, 0), (0, 2, 1)]
    );
    let both = [
        &files(&["x", "y"]),
        &files(&["x1", "y1"]),
        &files(&["x1", "y1"]),
    ];
    assert_eq!(
        ingest_states(SourceName::Keep, &both),
        [(2, 0, 0), (0, 2, 0), (0, 0, 2)]
    );
    let and_new = [&files(&["alpha"]), &files(&["new", "alpha, edited"])];
    assert_eq!(
        ingest_states(SourceName::Keep, &and_new),
        [(1, 0, 0), (1, 1, 0)]
    );
}
