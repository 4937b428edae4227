//! The fuzz target `markdown_notes`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::markdown_notes(bytes));
