//! A note of Obsidian, called anything: it is taken in as a draft or passed over, and what we make of it can be read.

#![no_main]

use std::fs;

use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use memory_core::{Finding, MemoryId, Source};
use memory_ingest::Obsidian;
use memory_store::markdown::{decode, encode};

fuzz_target!(|bytes: &[u8]| {
    let home = memory_fuzz::folder();
    let folder = home.path().join("notes");
    fs::create_dir(&folder).expect("a folder");
    // The first line is the name, where it can be one.
    let (name, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let name = String::from_utf8_lossy(name).replace(['/', '\0'], "_");
    if fs::write(folder.join(format!("{name}.md")), text).is_err() {
        return;
    }
    fs::write(folder.join("Other.md"), "alias:: [[x]]\n[[Other]] #y").expect("room");
    let source = Obsidian::open(home.path()).expect("a folder that can be read");
    let findings: Vec<Finding> = source.findings().collect();
    assert_eq!(findings, source.findings().collect::<Vec<_>>(), "who looks again finds the same");
    let now = DateTime::from_timestamp(1_800_000_000, 0).expect("a moment");
    for finding in findings {
        let Finding::Note { draft, front_matter, links, .. } = finding else { continue };
        assert_eq!(draft.source, source.name());
        assert!(draft.origin.as_ref().is_some_and(|origin| origin.path.starts_with("notes/")));
        assert!(links.iter().all(|link| !link.contains(['\n', '\r'])), "{links:?}");
        let memory = draft.into_memory(MemoryId::of_path("note"), now);
        let path = "categories/inbox/note.md";
        let read = decode(path, encode(&memory, &front_matter).as_bytes(), now);
        assert_eq!((read.memory, read.problem), (memory, None), "what is taken in is what is kept: {front_matter:?}");
    }
});
