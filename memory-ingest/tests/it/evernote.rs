use memory_core::SourceError;
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{
    IngestSandbox, SurveyNote, assert_edited_note_is_found, assert_notes_are_stable, ingest_states,
    moment, stated_days,
};

/// The data of the file `plan.pdf`, and its hash.
const DATA: &str = "aGVs\nbG8=";
const HASH: &str = "5d41402abc4b2a76b9719d911017c592";

fn notebook() -> String {
    let enml = |body: &str| {
        format!(
            "<![CDATA[<?xml version=\"1.0\"?>\n<!DOCTYPE en-note SYSTEM \"x\"><en-note>{body}</en-note>]]>"
        )
    };
    let meeting = enml(&format!(
        "<div>Plan &amp; 計画 🗓️</div><en-media hash=\"{HASH}\" type=\"application/pdf\"/><div><en-todo checked=\"true\"/>done</div>\
         <div><a href=\"evernote:///view/1/s1/a/a/\">Shopping</a> <a href=\"evernote:///view/1/s1/b/b/\">Gone</a></div><en-crypt>c2VjcmV0</en-crypt>"
    ));
    let shopping = enml("<ul><li>milk</li></ul>");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE en-export SYSTEM \"x\">\n<en-export export-date=\"20240301T000000Z\">\n\
         <note><title>Meeting &amp; more</title><content>{meeting}</content><created>20240102T030405Z</created>\
         <updated>20240203T040506Z</updated><tag>work</tag><tag>two words</tag><note-attributes><author>A. Author</author>\
         <source-url>https://example.org/?a=1&amp;b=2</source-url><reminder-time>20300101T000000Z</reminder-time>\
         <reminder-order>1</reminder-order></note-attributes>\
         <task><title>call</title><taskStatus>open</taskStatus><dueDate>20240105T060000Z</dueDate></task>\
         <resource><data encoding=\"base64\">{DATA}</data><mime>application/pdf</mime><resource-attributes>\
         <file-name>plan.pdf</file-name></resource-attributes></resource>\
         <resource><data encoding=\"base64\">AAAA</data><mime>image/png</mime></resource></note>\n\
         <note>\n  <title>\n Shopping </title>\n <content>\n{shopping}\n</content><created>20240102T030406Z</created></note>\
         <note><title>Untitled Note</title><content>{shopping}</content></note>\
         <note><title>Untitled Note</title><content>{shopping}</content></note>\
         <note><title>only a title</title><content/></note>\
         <note><title></title><content>{}</content></note>\
         <note><title>bad &nothing; time</title><content>text without markup</content><created>yesterday</created></note>\
         <note><title>cut",
        enml("")
    )
}

#[test]
fn notes_of_a_notebook_are_markdown() {
    let folder = IngestSandbox::new(&[("Work 仕事.enex", &notebook()), ("other.txt", "x")]);
    let found = folder.survey(SourceName::Evernote);
    let meeting = found.note("Work 仕事/20240102T030405Z Meeting & more");
    let shopping = found.note("Work 仕事/20240102T030406Z Shopping");
    // A hash of the text identifies notes without a time. The second of two equal notes has a number.
    let titled = |title: Option<&str>| {
        let titled = found
            .notes
            .iter()
            .filter(move |note| note.draft.title.as_deref() == title);
        titled.collect::<Vec<_>>()
    };
    let untitled = titled(None);
    assert_eq!(
        (untitled.len(), untitled[1].path()),
        (2, format!("{} (2)", untitled[0].path()).as_str())
    );
    assert_eq!(
        (untitled[0].path().len(), found.notes.len()),
        ("Work 仕事/".len() + 16, 6)
    );
    let content = "Plan & 計画 🗓️\n[file: plan.pdf]\n- [x] done\n[[Shopping]] [Gone](evernote:///view/1/s1/b/b/)\n[encrypted text]\n\n\
        - [ ] call (due 2024-01-05 06:00 UTC)\n\n[file: image/png]";
    assert_eq!(meeting.draft.content, content);
    assert_eq!(
        (meeting.draft.title.as_deref(), meeting.links.as_slice()),
        (
            Some("Meeting & more"),
            &["Shopping".to_owned(), "Gone".to_owned()][..]
        )
    );
    assert_eq!(meeting.draft.tags.as_slice(), ["work", "two words"]);
    assert_eq!(
        (meeting.draft.created_at, meeting.updated_at),
        (
            Some(moment("2024-01-02T03:04:05Z")),
            Some(moment("2024-02-03T04:05:06Z"))
        )
    );
    let lines = "evernote_notebook: \"Work 仕事\"\nevernote_author: \"A. Author\"\nevernote_reminder_order: \"1\"\nevernote_reminder_time: \"2030-01-01T00:00:00Z\"\n\
        evernote_source_url: \"https://example.org/?a=1&b=2\"\n";
    assert_eq!(meeting.front_matter, lines);
    assert_eq!(
        (
            untitled[0].draft.created_at,
            shopping.draft.content.as_str()
        ),
        (None, "- milk")
    );
    let bad = titled(Some("bad &nothing; time"))[0];
    assert_eq!(
        (bad.draft.content.as_str(), bad.draft.created_at),
        ("text without markup", None)
    );
    assert!(
        bad.path().ends_with(" bad &nothing; time"),
        "{}",
        bad.path()
    );
    assert_eq!(
        titled(Some("only a title"))[0].draft.content,
        "only a title"
    );
    let reasons: Vec<_> = found
        .skipped
        .iter()
        .map(|(_, reason)| reason.as_str())
        .collect();
    assert_eq!(reasons, ["its note 8 has no end", "is empty"]);
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (1, 1)
    );
    let warnings = found.report.warnings.iter();
    let warned: Vec<_> = warnings
        .map(|own| format!("{} {}", own.path, own.reason))
        .collect();
    let dead =
        |warned: &&String| warned.contains("Meeting & more") && warned.contains("[\"Gone\"]");
    assert_eq!(warned.iter().filter(dead).count(), 1, "{warned:?}");
    assert_eq!(
        (found.again.new, found.again.updated, found.again.unchanged),
        (0, 0, 6)
    );
}

#[test]
fn notes_without_a_time_and_with_equal_titles_are_different_notes() {
    let notebook = |text: &str| {
        format!(
            "<en-export><note><title>Plan</title><content><![CDATA[<en-note>{text}</en-note>]]></content></note></en-export>"
        )
    };
    let folder = IngestSandbox::new(&[
        ("a/Notes.enex", &notebook("*first*")),
        ("b/Notes.enex", &notebook("second")),
    ]);
    let paths = |folder: &IngestSandbox| {
        folder
            .survey(SourceName::Evernote)
            .notes
            .iter()
            .map(|note| note.path().to_owned())
            .collect::<Vec<_>>()
    };
    let both = paths(&folder);
    assert_eq!(both.len(), 2);
    // The path of a note does not depend on the other notebooks of the import.
    let alone = IngestSandbox::new(&[("Notes.enex", &notebook("second"))]);
    assert!(
        both.contains(&paths(&alone)[0]) && both[0] != both[1],
        "{both:?}"
    );
    let found = folder.survey(SourceName::Evernote);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.draft.content == "\\*first\\*")
    );
}

#[test]
fn the_text_of_a_note_is_read_or_its_loss_is_reported() {
    let note = |title: &str, content: &str| {
        format!("<note><title>{title}</title>{content}<tag>t</tag></note>")
    };
    let block = |enml: &str| format!("<content><![CDATA[<en-note>{enml}</en-note>]]></content>");
    let notes = [
        note("nested", &block("<div>a <![CDATA[b]]> c</div><div>d</div>")),
        note("split", &block("<div>a ]]]]><![CDATA[&gt; b</div>")),
        note(
            "elements",
            "<content><en-note><div>a</div><b>b</b></en-note></content>",
        ),
        note(
            "escaped",
            "<content>&lt;en-note&gt;a&lt;/en-note&gt;</content>",
        ),
        note("none", ""),
        note("cut", "<content><![CDATA[<en-note>a]]>"),
    ];
    let export = format!("<en-export>{}</en-export>", notes.concat());
    let folder = IngestSandbox::new(&[("a.enex", &export), ("b.enex", "<en-export></en-export>")]);
    let found = folder.survey(SourceName::Evernote);
    let content = |title: &str| {
        let note = found
            .notes
            .iter()
            .find(|note| note.draft.title.as_deref() == Some(title))?;
        assert_eq!(note.draft.tags.as_slice(), ["t"], "{title}");
        Some(note.draft.content.as_str())
    };
    assert_eq!(content("nested"), Some("a b c\nd"));
    assert_eq!(content("split"), Some("a ]]> b"));
    assert_eq!(content("elements"), Some("a\n**b**"));
    assert_eq!(content("escaped"), Some("a"));
    let reasons: Vec<_> = found
        .skipped
        .iter()
        .map(|(_, reason)| reason.as_str())
        .collect();
    assert_eq!(found.notes.len(), 4);
    assert_eq!(
        reasons,
        [
            "contains no notes",
            "has a text without an end",
            "has no text"
        ]
    );
}

#[test]
fn the_name_of_a_notebook_may_begin_with_a_point() {
    let notebook = notebook();
    let folder = IngestSandbox::new(&[
        (".0-Daily.enex", &notebook),
        ("._.0-Daily.enex", &notebook),
        (".git/b.enex", &notebook),
    ]);
    let found = folder.survey(SourceName::Evernote);
    let is_of_daily = |note: &SurveyNote| note.path().starts_with(".0-Daily/");
    assert!(!found.notes.is_empty() && found.notes.iter().all(is_of_daily));
}

#[test]
fn a_folder_without_notebooks_is_not_recognized() {
    let folder = IngestSandbox::new(&[("a.md", "x")]);
    let opened = open(
        SourceName::Evernote,
        &folder.path(),
        &SourceOptions::default(),
    );
    assert!(matches!(opened, Err(SourceError::NotRecognized { .. })));
}

#[test]
fn a_new_note_with_the_time_and_the_title_of_others_leaves_their_memories() {
    let note = |text: &&str| {
        format!(
            "<note><title>T</title><content><![CDATA[<en-note>{text}</en-note>]]></content><created>20240102T030405Z</created></note>"
        )
    };
    let notebook = |texts: &[&str]| {
        let notes = texts.iter().map(note).collect::<String>();
        IngestSandbox::new(&[("n.enex", &format!("<en-export>{notes}</en-export>"))])
    };
    assert_notes_are_stable(
        SourceName::Evernote,
        &notebook(&["a"]),
        &notebook(&["a", "b"]),
        &notebook(&["new", "a", "b"]),
    );
    assert_edited_note_is_found(
        SourceName::Evernote,
        &notebook(&["a", "b", "c"]),
        &notebook(&["edited", "a", "c"]),
    );
    let states = [
        &notebook(&["alpha"]),
        &notebook(&["new", "alpha, edited"]),
        &notebook(&["newer", "alpha, edited twice"]),
    ];
    assert_eq!(
        ingest_states(SourceName::Evernote, &states),
        [(1, 0, 0), (1, 1, 0), (0, 2, 0)]
    );
}

#[test]
fn days_without_a_time_are_marked() {
    let note = |created: &str| {
        format!("<note><title>T</title><content>tea</content><created>{created}</created></note>")
    };
    let notes = [note("2024-01-05"), note("20240106T000000Z")].concat();
    let export = format!("<en-export>{notes}</en-export>");
    let folder = IngestSandbox::new(&[("Tea.enex", &export)]);
    let days = stated_days(SourceName::Evernote, &folder.path());
    assert_eq!(days, ["2024-01-05"]);
}
