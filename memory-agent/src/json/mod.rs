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
//! | `memory_smart_search` | as search, and `understood: {query, category?, from?, until?}`, see [`smart_search_results`] |
//! | `memory_context`, `agent --prompt` | `{context, memories, tokens, left_out, …}`, see [`context()`] |
//! | backlinks, link, unlink | `{memories}`, see [`memories`] |
//! | resolve-links | `{resolved, unresolved, updated, unresolved_links: [{id, link}]}` |
//! | delete | `{id, path}` |
//! | ingest | `{source, new, updated, unchanged, skipped, warnings, tags, links}`, see [`ingested`] |
//! | export | one memory per line, see [`memory_for_export`] |
//! | import | `{new, updated, unchanged, skipped: [{path, reason}]}`; for the input see [`exported`] |
//! | undo | `{operation, undone}`, see [`undone`] |
//! | restore | `{id, path, trash, conversation?, memory_path?}` |
//! | trash list | `{files: [{id, path, trash, …}], total, bytes}`, see [`trashed`], [`deleted_entry`] |
//! | trash purge | `{files, bytes}` |
//! | log | `{operations: [{operation, at, verb, files, …}]}`, see [`logged`] |
//! | log OPERATION | an operation with its `changes`, see [`record`] |
//! | when | `{text, at, span, kind, relation, repeats, vague, assumed?}`, see [`reading`] |
//! | usage | `{budget, left, today, lately, unreadable}`, see [`usage`] |
//! | remind | `{id, path, created, due, assumed?, merged?, ignored?}`, see [`reminded`] |
//! | write --category reminders | as remind, or as write with a `warning`, see [`written_reminder`] |
//! | reminders | as list |
//! | done, snooze, pin, unpin | as read |
//! | notify | `{shown: [MEMORY…], waiting, method, instead?, failed?, pending, degraded?}`, see [`notified`] |
//! | add | `{added, memories: [{id, conversation_id, content, created_at}…]}`, see [`added`] |
//! | conversations | `{conversations: [{id, turns, facts, …}…], total}`, see [`conversation_summary`] |
//! | conversations show | `{id, memory_path, summary?, facts, turns, …}`, see [`conversation()`] |
//! | memories for a chat | `[{role, content, created_at, score}…]`, see [`remembered`] |
//! | bank … | see [`mod@bank`] |
//! | topic … | see [`mod@topic`] |
//! | instance backends, actions, instances | see [`backends`], [`backend()`], [`actions`], [`instances`] |
//! | any failed request | `{"error": {code, message, hint?}}`, see [`error`] |

pub mod bank;
mod context;
mod conversation;
mod error;
mod export;
mod history;
mod ingest;
mod instance;
mod links;
mod memory;
mod reminder;
mod search;
mod time;
mod time_expression;
pub mod topic;
mod usage;
mod write;

pub use context::{context, smart_search_results};
pub use conversation::{added, conversation, conversation_summary, remembered};
pub use error::{error, tool_error};
pub use export::exported;
pub use history::{
    bank_record, conversation_record, conversation_undone, deleted_entry, instance_record, instance_undone, logged, purged,
    record, restored, restored_entry, trashed, undone,
};
pub use ingest::{imported, ingested};
pub use instance::{actions, backend, backends, instances};
pub use links::{link_report, unlinked};
pub use memory::{memories, memory, memory_for_export, page};
pub use reminder::{notified, reminded, written_reminder};
pub use search::{hit_tokens, search_results};
pub use time_expression::reading;
pub use usage::usage;
pub use write::{deleted, written};

use serde::Serialize;
use serde_json::Value;

/// Serializes one of the shapes of this module.
fn value(shape: &impl Serialize) -> Value {
    serde_json::to_value(shape).expect("our shapes have text for keys and nothing that fails")
}
