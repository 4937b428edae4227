//! The fuzz target `jq`.

#![no_main]

libfuzzer_sys::fuzz_target!(
    init: memory_fuzz::serve_jq_child(),
    |bytes: &[u8]| memory_fuzz::jq(bytes)
);
