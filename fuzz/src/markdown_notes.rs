//! Fuzzes Markdown files, concepts of the Open Knowledge Format and notes of basic-memory, plain or as a ZIP archive.

use memory_ingest::{BasicMemory, Markdown, Okf};

use crate::sources::read_file;

/// Reads a Markdown file of each kind twice; both scans return the same items.
pub fn markdown_notes(bytes: &[u8]) {
    read_file("a.md", bytes, Markdown::open);
    read_file("a.md", bytes, Okf::open);
    read_file("a.md", bytes, BasicMemory::open);
}
