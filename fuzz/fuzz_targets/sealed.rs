//! The fuzz target `sealed`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::sealed(bytes));
