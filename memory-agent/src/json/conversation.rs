//! What is kept of conversations, in JSON.

use memory_core::conversation::{Entry, Remembered};
use serde::Serialize;
use serde_json::Value;

use super::{time, value};

#[derive(Serialize)]
struct Added<'a> {
    added: usize,
    memories: Vec<AddedEntry<'a>>,
}

#[derive(Serialize)]
struct AddedEntry<'a> {
    id: &'a str,
    conversation_id: &'a str,
    content: &'a str,
    created_at: String,
}

/// Writes what was added to conversations: `{added, memories: [{id, conversation_id, content, created_at}…]}`.
pub fn added(entries: &[Entry]) -> Value {
    value(&Added { added: entries.len(), memories: entries.iter().map(entry).collect() })
}

fn entry(entry: &Entry) -> AddedEntry<'_> {
    AddedEntry {
        id: entry.id.as_str(),
        conversation_id: entry.conversation.as_str(),
        content: &entry.content,
        created_at: time::text(entry.created_at),
    }
}

#[derive(Serialize)]
struct RememberedEntry<'a> {
    role: &'a str,
    content: &'a str,
    created_at: String,
    score: f32,
}

/// Writes what was called to mind: `[{role, content, created_at, score}…]`.
pub fn remembered(memories: &[Remembered]) -> Value {
    let one = |remembered: &'_ Remembered| {
        let entry = &remembered.entry;
        let created_at = time::text(entry.created_at);
        value(&RememberedEntry { role: entry.role.as_str(), content: &entry.content, created_at, score: remembered.score })
    };
    Value::Array(memories.iter().map(one).collect())
}
