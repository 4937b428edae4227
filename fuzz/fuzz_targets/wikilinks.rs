//! The fuzz target `wikilinks`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::wikilinks(bytes));
