//! Fuzzes the files of exports, plain or as a ZIP archive: each file is read equally twice, or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_ingest::{ChatGpt, ClaudeAi};

fuzz_target!(|bytes: &[u8]| {
    memory_fuzz::read_file("conversations.json", bytes, ChatGpt::open);
    memory_fuzz::read_file("memories.txt", bytes, ChatGpt::open);
    for name in ["conversations.json", "memories.json", "projects.json"] {
        memory_fuzz::read_file(name, bytes, ClaudeAi::open);
    }
});
