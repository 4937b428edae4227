//! The fuzz target `logseq`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::logseq(bytes));
