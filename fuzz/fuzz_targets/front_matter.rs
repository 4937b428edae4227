//! The fuzz target `front_matter`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::front_matter(bytes));
