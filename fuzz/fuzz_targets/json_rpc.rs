//! The fuzz target `json_rpc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::json_rpc(bytes));
