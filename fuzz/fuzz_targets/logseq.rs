//! Fuzzes Logseq pages and their names: a page is ingested or skipped, and the memory can be read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_ingest::Logseq;

fuzz_target!(|bytes: &[u8]| memory_fuzz::take_in("pages", bytes, Logseq::open));
