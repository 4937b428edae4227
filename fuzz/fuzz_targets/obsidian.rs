//! Fuzzes Obsidian notes and their names: a note is ingested or skipped, and the memory can be read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_ingest::Obsidian;

fuzz_target!(|bytes: &[u8]| memory_fuzz::take_in("notes", bytes, Obsidian::open));
