//! Fuzzes the notes of Evernote, Keep, Notion, Codex and Cursor: each file is read equally twice, or refused.

use std::path::Path;

use memory_core::SourceError;
use memory_ingest::{Codex, Evernote, Keep, Notion, ProjectRules};

use crate::sources::read_file;

/// Reads a file of Evernote, Keep, Notion, Codex or Cursor twice; both scans return the same items.
pub fn notebooks(bytes: &[u8]) {
    read_file("a.enex", bytes, Evernote::open);
    read_file("Keep/a.json", bytes, Keep::open);
    read_file("A 0123456789abcdef0123456789abcdef.md", bytes, Notion::open);
    read_file("MEMORY.md", bytes, open_codex);
    read_file(".cursor/rules/a.mdc", bytes, open_cursor);
}

fn open_codex(path: &Path) -> Result<Codex, SourceError> {
    Codex::open(path.parent().unwrap_or(path))
}

fn open_cursor(path: &Path) -> Result<ProjectRules, SourceError> {
    ProjectRules::cursor(path.parent().unwrap_or(path))
}
