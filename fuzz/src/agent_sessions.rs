//! Fuzzes the session files of agents: each file is read equally twice.

use memory_ingest::{ClaudeSessions, Codex, Gemini};

use crate::sources::read_file;

/// Reads a session file of Claude Code, Codex or Gemini CLI twice; both scans return the same sessions.
pub fn agent_sessions(bytes: &[u8]) {
    read_file("session.jsonl", bytes, ClaudeSessions::open);
    read_file("rollout-1.jsonl", bytes, Codex::open);
    read_file("session-1.jsonl", bytes, Gemini::open);
    read_file("session-1.json", bytes, Gemini::open);
}
