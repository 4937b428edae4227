//! Fuzzes Obsidian notes and their names: a note is ingested or skipped, and the memory can be read.

use memory_ingest::Obsidian;

use crate::sources::take_in;

/// Ingests a note whose name is the first line.
pub fn obsidian(bytes: &[u8]) {
    take_in("notes", bytes, Obsidian::open);
}
