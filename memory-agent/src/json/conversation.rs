//! The JSON of conversations.

use std::sync::Arc;

use memory_core::conversation::{
    ConversationContents, ConversationEntry, ConversationId, ConversationSummary, EntryId,
    EntryRole, RecallResult, RecalledMemory, RecalledStanding, StandingOrigin,
};
use serde::Serialize;
use serde_json::Value;

use super::{time, value};

#[derive(Serialize)]
struct AddedEntriesShape<'a> {
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

/// Returns the JSON of entries that were added to conversations.
///
/// `{added, memories: [{id, conversation_id, content, created_at}…]}`.
pub fn added_entries(entries: &[ConversationEntry]) -> Value {
    value(&AddedEntriesShape {
        added: entries.len(),
        memories: entries.iter().map(added_entry).collect(),
    })
}

fn added_entry(entry: &ConversationEntry) -> AddedEntry<'_> {
    AddedEntry {
        id: entry.id.as_str(),
        conversation_id: entry.conversation.as_str(),
        content: &entry.content,
        created_at: time::rfc3339(entry.created_at),
    }
}

#[derive(Serialize)]
struct RememberedEntry<'a> {
    role: &'a str,
    content: &'a str,
    created_at: String,
    score: f32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    earlier: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// Returns the JSON of the memories for a chat: `[{role, content, created_at, score}…]`.
///
/// Standing instructions and preferences come first. They have the additional field `standing`, which is `instruction` or `preference`. One
/// from the home has the role `memory` and the `id` of the memory. A superseded memory has `earlier: true`.
pub fn recalled_memories(recalled: &RecallResult) -> Value {
    let standing = |own: &RecalledStanding| {
        let (role, id) = match &own.origin {
            StandingOrigin::Entry(entry) => (entry.role, None),
            StandingOrigin::Memory { id, .. } => (EntryRole::Memory, Some(id.to_string())),
        };
        value(&RememberedEntry {
            role: role.as_str(),
            content: &own.text,
            created_at: time::rfc3339(own.created_at),
            score: own.score,
            earlier: false,
            standing: Some(own.kind.as_str()),
            id,
        })
    };
    let memory = |remembered: &RecalledMemory| {
        let entry = &remembered.entry;
        let created_at = time::rfc3339(entry.created_at);
        value(&RememberedEntry {
            role: entry.role.as_str(),
            content: &remembered.text,
            created_at,
            score: remembered.score,
            earlier: remembered.is_superseded,
            standing: None,
            id: None,
        })
    };
    Value::Array(
        recalled
            .standing
            .iter()
            .map(standing)
            .chain(recalled.memories.iter().map(memory))
            .collect(),
    )
}

#[derive(Serialize)]
struct ListedConversation<'a> {
    id: &'a str,
    turns: usize,
    facts: usize,
    has_summary: bool,
    last_used: String,
    memory_path: &'a str,
}

/// Returns the JSON of a conversation in a list, with its folder.
///
/// `{id, turns, facts, has_summary, last_used, memory_path}`.
pub fn conversation_summary(listed: &ConversationSummary, memory_path: &str) -> Value {
    value(&ListedConversation {
        id: listed.id.as_str(),
        turns: listed.turns,
        facts: listed.facts,
        has_summary: listed.has_summary,
        last_used: time::rfc3339(listed.last_used),
        memory_path,
    })
}

#[derive(Serialize)]
struct ShownConversation<'a> {
    id: &'a str,
    memory_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<ShownEntry<'a>>,
    facts: Vec<ShownEntry<'a>>,
    turns: Vec<ShownEntry<'a>>,
    total_facts: usize,
    total_turns: usize,
}

#[derive(Serialize)]
struct ShownEntry<'a> {
    id: &'a str,
    role: &'a str,
    content: &'a str,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<&'a str>,
}

/// Returns the JSON of a conversation with the newest `limit` of its facts and of its turns.
///
/// `{id, memory_path, summary?, facts, turns, total_facts, total_turns}`; each entry is `{id, role, content,
/// created_at, source_id?}`.
pub fn conversation(
    id: &ConversationId,
    contents: &ConversationContents,
    limit: usize,
    memory_path: &str,
) -> Value {
    value(&ShownConversation {
        id: id.as_str(),
        memory_path,
        summary: contents.summary.as_ref().map(shown_entry),
        facts: newest(&contents.facts, limit),
        turns: newest(&contents.turns, limit),
        total_facts: contents.facts.len(),
        total_turns: contents.turns.len(),
    })
}

fn newest(entries: &[Arc<ConversationEntry>], limit: usize) -> Vec<ShownEntry<'_>> {
    entries[entries.len().saturating_sub(limit)..]
        .iter()
        .map(shown_entry)
        .collect()
}

fn shown_entry(entry: &Arc<ConversationEntry>) -> ShownEntry<'_> {
    ShownEntry {
        id: entry.id.as_str(),
        role: entry.role.as_str(),
        content: &entry.content,
        created_at: time::rfc3339(entry.created_at),
        source_id: entry.source_id.as_ref().map(EntryId::as_str),
    }
}
