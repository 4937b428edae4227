//! Fuzzes Markdown files, concepts of the Open Knowledge Format and notes of basic-memory, plain or as a ZIP archive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_ingest::{BasicMemory, Markdown, Okf};

fuzz_target!(|bytes: &[u8]| {
    memory_fuzz::read_file("a.md", bytes, Markdown::open);
    memory_fuzz::read_file("a.md", bytes, Okf::open);
    memory_fuzz::read_file("a.md", bytes, BasicMemory::open);
});
