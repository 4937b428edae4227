//! The JSON of all results, with the same shapes in every frontend.
//!
//! Names are in `snake_case`, and times are RFC 3339 in UTC. A key that is marked with `?` or described with "if" is
//! left out when empty; all others are always present. New keys may be added; the meaning of a key never changes.
//!
//! | request | result |
//! |---|---|
//! | write | `{id, path, created, expires_at?, merged?, ignored?}`; not `created` if the scope already had the text |
//! | read, tag, edit, upgrade | a memory, see [`memory()`] |
//! | list | `{memories, total}`, see [`page`] |
//! | search | `{hits: [{memory, score, snippet, explain?}], total, degraded?}`, see [`search_results`] |
//! | `search`, chats | `{hits: [{chat, id?, ts?, role, score, snippet}], total, degraded?}`, see [`chat_search_results`] |
//! | `memory_smart_search` | as search, and `understood: {query, category?, from?, until?}`, see [`smart_search_results`] |
//! | `memory_context`, `agent --prompt` | `{context, memories, tokens, left_out, …}`, see [`context()`] |
//! | backlinks, link, unlink | `{memories}`, see [`memories`] |
//! | resolve-links | `{resolved, unresolved, updated, unresolved_links: [{id, link}]}` |
//! | delete | `{id, path}` |
//! | ingest | `{source, new, updated, unchanged, skipped, warnings, tags, links}`, see [`ingest_report`] |
//! | export | one memory per line, see [`memory_for_export`] |
//! | import | `{new, updated, unchanged, skipped: [{path, reason}]}`; for the input see [`parse_exported`] |
//! | undo | `{operation, undone}`, see [`undo_result`] |
//! | restore | `{id, path, trash, conversation?, memory_path?}` |
//! | trash list | `{files: [{id, path, trash, …}], total, bytes}`, see [`trashed_file`], [`deleted_entry`] |
//! | trash purge | `{files, bytes}` |
//! | log | `{operations: [{operation, at, verb, files, …}]}`, see [`operations`] |
//! | log OPERATION | an operation with its `changes`, see [`record`] |
//! | when | `{text, at, end?, span, kind, relation, repeats, vague, assumed?, unused?, impossible?}`, see [`time_expression`] |
//! | recalls | `{recalls: [{at, agent?, …, memories, tokens}], total, since?, enabled}`, see [`recalls`] |
//! | why | `{id, title?, …, recalls: [{at, agent?, …, rank, of}], total, since?, enabled}`, see [`why`] |
//! | usage | `{budget, left, today, lately, unreadable}`, see [`usage`] |
//! | remind | `{id, path, created, due, repeats?, assumed?, merged?, ignored?}`, see [`reminder`] |
//! | write --category reminders | as remind, or as write with a `warning`, see [`reminder_or_memory`] |
//! | reminders | as list |
//! | done, snooze, pin, unpin | as read |
//! | notify | `{shown: [MEMORY…], waiting, method, instead?, failed?, pending, degraded?}`, see [`notification`] |
//! | add | `{added, memories: [{id, conversation_id, content, created_at}…]}`, see [`added_entries`] |
//! | conversations | `{conversations: [{id, turns, facts, …}…], total}`, see [`conversation_summary`] |
//! | conversations show | `{id, memory_path, summary?, facts, turns, …}`, see [`conversation()`] |
//! | memories for a chat | `[{role, content, created_at, score}…]`, see [`recalled_memories`] |
//! | a change by an agent that waits for a review | `waits_for_review: true`, `note`, `proposals: [{id, action, of?}]`, and the result without `created` and `deleted` |
//! | inbox | `{proposals, notes}`, see [`waiting_proposal`], [`inbox_note`] |
//! | inbox accept | `{id, path, accepted}`, see [`accept_result`] |
//! | bank … | see [`mod@bank`] |
//! | topic … | see [`mod@topic`] |
//! | instance backends, actions, instances | see [`backends`], [`backend()`], [`actions`], [`instances`] |
//! | any failed request | `{"error": {code, message, hint?}}`, see [`error`] |

pub mod bank;
mod conversation;
mod error;
mod export;
mod history;
mod ingest;
mod instance;
mod memory;
mod proposal;
mod recall;
mod reminder;
mod search;
mod time;
pub mod topic;
mod usage;
mod write;

pub use conversation::{added_entries, conversation, conversation_summary, recalled_memories};
pub use error::{error, tool_error};
pub use export::parse_exported;
pub use history::{
    conversation_record, deleted_entry, operation, operations, purge_result, record,
    restored_entry, restored_file, trashed_file, undo_result,
};
pub use ingest::{import_report, ingest_report, session_import_report};
pub use instance::{actions, backend, backends, instances};
pub use memory::{link_report, memories, memory, memory_for_export, page, unlink_result};
pub(crate) use proposal::add_proposals;
pub use proposal::{accept_result, inbox_note, waiting_proposal};
pub use recall::{memory_rank, recalls, unused, why};
pub use reminder::{notification, reminder, reminder_or_memory};
pub(crate) use search::corrected;
pub use search::{
    ChatHit, chat_search_results, context, hit_tokens, search_results, smart_search_results,
    understood,
};
pub(crate) use time::quoted_time;
pub use time::time_expression;
pub use usage::usage;
pub use write::{delete_result, write_result};

use serde::Serialize;
use serde_json::Value;

/// Adds a field to an object, if it has a value.
pub fn add_field(object: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[key] = value.into();
    }
}

/// Serializes one of the shapes of this module.
pub(crate) fn value(shape: &impl Serialize) -> Value {
    serde_json::to_value(shape).expect("our shapes have text for keys and nothing that fails")
}
