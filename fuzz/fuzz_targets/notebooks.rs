//! The fuzz target `notebooks`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::notebooks(bytes));
