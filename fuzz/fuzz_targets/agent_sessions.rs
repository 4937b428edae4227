//! The fuzz target `agent_sessions`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| memory_fuzz::agent_sessions(bytes));
