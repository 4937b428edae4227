use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use memory_core::testing::services;
use memory_core::{Filter, IngestOptions, MemStore, ingest};
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{IngestSandbox, SurveyNote, moment};

#[test]
fn every_text_file_of_a_folder_is_a_note_with_its_links() {
    let folder = IngestSandbox::new(&[
        (
            "a.md",
            "---\nmodified: 2024-02-03\ncategory: Decision\n---\nsee [b](sub/b%20c.markdown#x), [[d]] and ![](p.png)",
        ),
        (
            "sub/b c.markdown",
            "[back](../a.md) and [root](/a.md), [[gone]]\r\n日本語 🦀 שלום\r\n",
        ),
        ("sub/d.TXT", "plain"),
        ("empty.md", " \n"),
        ("p.png", "x"),
        (".hidden/x.md", "secret"),
    ]);
    let found = folder.survey(SourceName::Markdown);
    assert_eq!(
        found.notes.iter().map(SurveyNote::path).collect::<Vec<_>>(),
        ["a.md", "sub/b c.markdown", "sub/d.TXT"]
    );
    assert_eq!(found.attachments, ["p.png"]);
    assert_eq!(
        found.skipped,
        [("empty.md".to_owned(), "is empty".to_owned())]
    );
    let note = found.note("a.md");
    assert_eq!(
        (note.draft.category, note.updated_at),
        (
            Some(memory_core::Category::Decisions),
            Some(moment("2024-02-03T00:00:00Z"))
        )
    );
    assert_eq!(note.draft.created_at, None);
    assert_eq!(found.note("sub/b c.markdown").draft.created_at, None);
    assert_eq!(
        found.note("sub/b c.markdown").draft.content,
        "[back](../a.md) and [root](/a.md), [[gone]]\r\n日本語 🦀 שלום"
    );
    // `[[d]]` leads to `d.TXT` by its title.
    let links = found.report.links;
    assert_eq!(
        (links.resolved, links.unresolved, links.only_by_title),
        (4, 2, 1)
    );
    assert_eq!(
        (found.again.new, found.again.updated, found.again.unchanged),
        (0, 0, 3)
    );
}

#[test]
fn notes_in_utf_16_are_decoded_and_files_without_text_are_reported() {
    let folder = IngestSandbox::new(&[]);
    let text = "\u{feff}---\ntags: [tea]\n---\n茶 [[b]]\r\n";
    folder.write(
        "little.md",
        &text
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>(),
    );
    folder.write(
        "big.txt",
        &text
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect::<Vec<_>>(),
    );
    folder.write("data.md", &(0..=255).collect::<Vec<u8>>());
    let found = folder.survey(SourceName::Markdown);
    for path in ["big.txt", "little.md"] {
        let note = found.note(path);
        assert_eq!(
            (note.draft.content.as_str(), note.draft.tags.as_slice()),
            ("茶 [[b]]", &["tea".to_owned()][..])
        );
        assert_eq!(note.warning, None);
    }
    assert_eq!(
        found.skipped,
        [(
            "data.md".to_owned(),
            "is not text in a known encoding".to_owned()
        )]
    );
}

#[test]
fn a_single_file_has_the_origin_that_it_has_in_its_folder() {
    let folder = IngestSandbox::new(&[("a.md", "a"), ("b.md", "b")]);
    let origin = |path| {
        let source =
            open(SourceName::Markdown, path, &SourceOptions::default()).expect("it is there");
        let notes = source.items().filter_map(|item| match item {
            memory_core::SourceItem::Note(note) => note.draft.origin,
            _ => None,
        });
        notes.collect::<Vec<_>>()
    };
    assert_eq!(
        origin(&folder.path().join("b.md")),
        origin(&folder.path())[1..]
    );
}

#[test]
fn an_undated_note_has_the_time_of_its_file() {
    let folder = IngestSandbox::new(&[
        ("old.md", "a"),
        ("ahead.md", "b"),
        ("2021-02-03.md", "c"),
        ("dated.md", "---\ncreated: 2022-03-04\n---\nd"),
        ("changed.md", "---\nupdated: 2023-04-05\n---\ne"),
    ]);
    let set_time = |path: &str, time: &str| {
        let file = File::options().write(true).open(folder.path().join(path));
        let file = file.expect("the file is there");
        file.set_modified(moment(time).into())
            .expect("a file has a time");
    };
    for path in ["old.md", "2021-02-03.md", "dated.md", "changed.md"] {
        set_time(path, "2020-01-02T03:04:05Z");
    }
    set_time("ahead.md", "2999-01-02T03:04:05Z");
    let home = services(Arc::new(MemStore::default()));
    let run = || {
        let source = open(
            SourceName::Markdown,
            &folder.path(),
            &SourceOptions::default(),
        );
        let source = source.expect("the source is there");
        let report = ingest(
            &home,
            source.as_ref(),
            &IngestOptions::default(),
            &mut |_| {},
        );
        report.expect("the fake store does not fail")
    };
    let start = home.clock.now();
    assert_eq!(run().new, 5);
    let now = home.clock.now();
    let stored = home.store.memories(&Filter::all(), now);
    let mut times: BTreeMap<_, _> = stored
        .map(|stored| stored.expect("it can be read").memory)
        .map(|memory| (memory.content, memory.created_at))
        .collect();
    let expected = [
        ("a", moment("2020-01-02T03:04:05Z")),
        ("c", moment("2021-02-03T00:00:00Z")),
        ("d", moment("2022-03-04T00:00:00Z")),
        ("e", moment("2023-04-05T00:00:00Z")),
    ];
    let ahead = times.remove("b").expect("it is stored");
    assert!((start..=now).contains(&ahead), "{ahead}");
    assert_eq!(
        times,
        expected.map(|(text, time)| (text.to_owned(), time)).into()
    );
    set_time("old.md", "2020-05-06T03:04:05Z");
    let again = run();
    assert_eq!(
        (again.updated, again.unchanged),
        (0, 5),
        "a copied file is no changed note"
    );
}
