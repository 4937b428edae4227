//! The fuzz target `encoder`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::encoder(bytes));
