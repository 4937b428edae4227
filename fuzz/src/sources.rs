//! Properties of sources.

use std::fs;
use std::path::Path;

use chrono::DateTime;
use memory_core::testing::source_suite;
use memory_core::{MemoryId, NoteItem, Source, SourceError, SourceItem, SourceSessionItem};
use memory_ingest::{SourceName, SourceOptions, open};
use memory_store::markdown::{decode, encode};

use crate::fixtures::folder;

/// Ingests a folder with a fuzzed note and another note.
///
/// The first line of `bytes` is the name of the note, if it is a valid one. Asserts that each ingested note has an origin
/// and is read back unchanged.
pub(crate) fn take_in<S: Source>(
    folder_name: &str,
    bytes: &[u8],
    open: fn(&Path) -> Result<S, SourceError>,
) {
    let home = folder();
    let folder = home.path().join(folder_name);
    fs::create_dir(&folder).expect("a folder");
    let (name, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let name = String::from_utf8_lossy(name).replace(['/', '\0'], "_");
    if fs::write(folder.join(format!("{name}.md")), text).is_err() {
        return;
    }
    fs::write(folder.join("Other.md"), "alias:: [[x]]\n[[Other]] #y").expect("room");
    let source = open(home.path()).expect("a folder that can be read");
    let findings: Vec<SourceItem> = source.items().collect();
    assert_eq!(
        findings,
        source.items().collect::<Vec<_>>(),
        "two scans return the same findings"
    );
    for finding in findings {
        let SourceItem::Note(note) = finding else {
            continue;
        };
        let is_inside = |path: &str| {
            path.strip_prefix(folder_name)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        assert!(
            note.draft
                .origin
                .as_ref()
                .is_some_and(|origin| is_inside(&origin.path))
        );
        assert_eq!(note.draft.source, source.name());
        check_note(*note);
    }
}

/// Reads a file with these bytes as a source, twice. Asserts that both scans are equal and satisfy the contract of sources.
pub(crate) fn read_file<S: Source>(
    path: &str,
    bytes: &[u8],
    open: fn(&Path) -> Result<S, SourceError>,
) {
    let home = folder();
    let file = home.path().join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("room");
    fs::write(&file, bytes).expect("room");
    if let Ok(source) = open(&file) {
        source_suite(&source);
    }
}

/// Reads a file with these bytes as a source of records, if it is recognized.
///
/// Asserts that each record is read back unchanged, and that every conversation has messages.
pub(crate) fn read_records(name: SourceName, bytes: &[u8]) {
    let home = folder();
    let path = home.path().join("file");
    fs::write(&path, bytes).expect("room");
    let Ok(source) = open(name, &path, &SourceOptions::default()) else {
        return;
    };
    let findings: Vec<SourceItem> = source.items().collect();
    assert_eq!(
        findings,
        source.items().collect::<Vec<_>>(),
        "two scans return the same findings"
    );
    let notes = findings.into_iter().filter_map(|finding| match finding {
        SourceItem::Note(note) => Some(*note),
        SourceItem::Attachment(_) | SourceItem::Skipped { .. } => None,
    });
    let mut last = None;
    for note in notes {
        let path = note.draft.origin.as_ref().map(|origin| origin.path.clone());
        assert!(
            last < path,
            "the paths are in order, and each occurs once: {last:?} {path:?}"
        );
        last = path;
        check_note(note);
    }
    for session in source.sessions() {
        assert!(
            !matches!(session, SourceSessionItem::Session(session) if session.records.is_empty())
        );
    }
    let names = fs::read_dir(home.path())
        .expect("the folder is there")
        .count();
    assert_eq!(
        (
            names,
            fs::read(&path).expect("the file is there").as_slice()
        ),
        (1, bytes),
        "nothing was written"
    );
}

/// Asserts that a note is read back as it was ingested.
fn check_note(note: NoteItem) {
    let now = DateTime::from_timestamp(1_800_000_000, 0).expect("a moment");
    let NoteItem {
        draft,
        front_matter,
        links,
        ..
    } = note;
    assert!(
        links.iter().all(|link| !link.contains(['\n', '\r'])),
        "{links:?}"
    );
    let memory = draft.into_memory(MemoryId::for_path("note"), now);
    let path = "categories/inbox/note.md";
    let read = decode(path, encode(&memory, &front_matter).as_bytes(), now);
    assert_eq!(
        (read.memory, read.problem),
        (memory, None),
        "the stored note differs from the ingested one: {front_matter:?}"
    );
}
