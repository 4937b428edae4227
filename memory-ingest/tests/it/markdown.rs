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
