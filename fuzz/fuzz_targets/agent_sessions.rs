//! Fuzzes the session files of agents: each file is read equally twice.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_ingest::{ClaudeSessions, Codex, Gemini};

fuzz_target!(|bytes: &[u8]| {
    memory_fuzz::read_file("session.jsonl", bytes, ClaudeSessions::open);
    memory_fuzz::read_file("rollout-1.jsonl", bytes, Codex::open);
    memory_fuzz::read_file("session-1.jsonl", bytes, Gemini::open);
    memory_fuzz::read_file("session-1.json", bytes, Gemini::open);
});
