//! The fuzz target `mcp`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::mcp(bytes));
