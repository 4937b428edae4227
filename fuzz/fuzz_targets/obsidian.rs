//! The fuzz target `obsidian`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::obsidian(bytes));
