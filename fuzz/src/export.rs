//! Fuzzes the files of exports, plain or as a ZIP archive: each file is read equally twice, or refused.

use memory_ingest::{ChatGpt, ClaudeAi};

use crate::sources::read_file;

/// Reads a file of an export of ChatGPT or Claude.ai twice; both scans return the same items.
pub fn export(bytes: &[u8]) {
    read_file("conversations.json", bytes, ChatGpt::open);
    read_file("memories.txt", bytes, ChatGpt::open);
    for name in ["conversations.json", "memories.json", "projects.json"] {
        read_file(name, bytes, ClaudeAi::open);
    }
}
