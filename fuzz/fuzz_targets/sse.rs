//! The fuzz target `sse`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::sse(bytes));
