//! Fuzzes the notes of Evernote, Keep, Notion, Codex and Cursor: each file is read equally twice, or refused.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use memory_core::SourceError;
use memory_ingest::{Codex, Evernote, Keep, Notion, ProjectRules};

fuzz_target!(|bytes: &[u8]| {
    memory_fuzz::read_file("a.enex", bytes, Evernote::open);
    memory_fuzz::read_file("Keep/a.json", bytes, Keep::open);
    memory_fuzz::read_file("A 0123456789abcdef0123456789abcdef.md", bytes, Notion::open);
    memory_fuzz::read_file("MEMORY.md", bytes, open_codex);
    memory_fuzz::read_file(".cursor/rules/a.mdc", bytes, open_cursor);
});

fn open_codex(path: &Path) -> Result<Codex, SourceError> {
    Codex::open(path.parent().unwrap_or(path))
}

fn open_cursor(path: &Path) -> Result<ProjectRules, SourceError> {
    ProjectRules::cursor(path.parent().unwrap_or(path))
}
