use std::path::Path;

use memory_core::{Code, SourceError};
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::IngestSandbox;

#[test]
fn a_source_that_is_not_there_is_named() {
    for name in SourceName::ALL.iter().copied() {
        let error = open(
            name,
            Path::new("/nowhere/at/all"),
            &SourceOptions::default(),
        )
        .expect_err("nothing is there");
        assert_eq!(
            (error.code(), error.to_string()),
            (Code::PathNotFound, "/nowhere/at/all does not exist".into())
        );
        assert_eq!(name.to_string().parse(), Ok(name));
    }
    let empty = IngestSandbox::new(&[]);
    assert!(matches!(
        open(
            SourceName::Fingersaver,
            &empty.path(),
            &SourceOptions::default()
        ),
        Err(SourceError::Missing { .. })
    ));
    let graph = IngestSandbox::new(&[("graph/pages/a.md", "- a")]);
    assert!(matches!(
        open(SourceName::Logseq, &graph.path(), &SourceOptions::default()),
        Err(SourceError::Missing { .. })
    ));
    assert!(
        open(
            SourceName::Logseq,
            &graph.path().join("graph"),
            &SourceOptions::default()
        )
        .is_ok()
    );
    assert!(matches!(
        open(
            SourceName::Obsidian,
            Path::new("/dev/null"),
            &SourceOptions::default()
        ),
        Err(SourceError::Unreadable { .. })
    ));
}

#[test]
fn a_chat_may_be_named_itself() {
    let folder = IngestSandbox::new(&[
        ("chat.md", "\n### [2026-03-10 21:14:05] User\n\nhello\n"),
        ("other.md", "x"),
    ]);
    let source = open(
        SourceName::Fingersaver,
        &folder.path().join("chat.md"),
        &SourceOptions::default(),
    )
    .expect("it is there");
    assert_eq!(source.items().count(), 1);
}

#[test]
fn a_source_reads_and_never_writes() {
    let folder = IngestSandbox::new(&[("a.md", "---\na: [\n---\nb\r\n")]);
    let before = std::fs::metadata(folder.path().join("a.md"))
        .and_then(|found| found.modified())
        .expect("a time");
    folder.survey(SourceName::Obsidian);
    assert_eq!(
        std::fs::read(folder.path().join("a.md")).expect("the file is there"),
        b"---\na: [\n---\nb\r\n"
    );
    assert_eq!(
        std::fs::metadata(folder.path().join("a.md"))
            .and_then(|found| found.modified())
            .expect("a time"),
        before
    );
    assert_eq!(
        std::fs::read_dir(folder.path())
            .expect("the folder is there")
            .count(),
        1
    );
}
