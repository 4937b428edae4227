//! Fuzzes Logseq pages and their names: a page is ingested or skipped, and the memory can be read.

use memory_ingest::Logseq;

use crate::sources::take_in;

/// Ingests a page whose name is the first line.
pub fn logseq(bytes: &[u8]) {
    take_in("pages", bytes, Logseq::open);
}
