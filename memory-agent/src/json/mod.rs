//! What every front says in JSON, one shape for each question.
//!
//! Names are in `snake_case` and times in UTC, as RFC 3339. A key whose description says "if" is left out when there is
//! nothing to say; all others are always there. More keys may come; none changes its meaning.
//!
//! | asked for | answer |
//! |---|---|
//! | write | `{id, path, created, expires_at?, merged?, ignored?}`; `created` is false if the same text was kept in the same scope already |
//! | read, tag, edit, upgrade | a memory, see [`memory()`] |
//! | list | `{memories, total}`, see [`page`] |
//! | search | `{hits: [{memory, score, snippet, explain?}], total, degraded?}`, see [`found`] |
//! | `memory_smart_search` | as search, and `understood: {query, category?, from?, until?}`, see [`smart_found`] |
//! | `memory_context`, `agent --prompt` | `{context, memories, tokens, left_out, standing?, degraded?}`, see [`context()`] |
//! | backlinks, link, unlink | `{memories}`, see [`memories`] |
//! | resolve-links | `{resolved, unresolved, updated, unresolved_links: [{id, link}]}` |
//! | delete | `{id, path}` |
//! | ingest | `{source, new, updated, unchanged, skipped: [{path, reason}], warnings, tags, links}`, see [`ingested`] |
//! | export | one memory a line, see [`memory_for_export`] |
//! | import | `{new, updated, unchanged, skipped: [{path, reason}]}`; what it takes is said at [`exported`] |
//! | undo | `{operation, undone}`, see [`undone`] |
//! | restore | `{id, path, trash, conversation?, memory_path?}` |
//! | trash list | `{files: [{id, path, trash, operation?, verb?, at, size, …}], total, bytes}`, see [`trashed`], [`deleted_entry`] |
//! | trash purge | `{files, bytes}` |
//! | log | `{operations: [{operation, at, verb, by?, undoes?, undone_by?, files, …}]}`, see [`logged`] |
//! | log OPERATION | one of these, with its `changes`, see [`record`] |
//! | when | `{text, at, span, kind, relation, repeats, vague, assumed?}`, see [`reading`] |
//! | usage | `{budget, left, today, lately, unreadable}`, see [`usage`] |
//! | remind | `{id, path, created, due, assumed?, merged?, ignored?}`, see [`reminded`] |
//! | write --category reminders | as remind, or as write with a `warning`, see [`written_reminder`] |
//! | reminders | as list |
//! | done, snooze, pin, unpin | as read |
//! | notify | `{shown: [MEMORY…], waiting, method, instead?, failed?, pending, degraded?}`, see [`notified`] |
//! | add | `{added, memories: [{id, conversation_id, content, created_at}…]}`, see [`added`] |
//! | conversations | `{conversations: [{id, turns, facts, has_summary, last_used, memory_path}…], total}`, see [`conversation_summary`] |
//! | conversations show | `{id, memory_path, summary?, facts, turns, total_facts, total_turns}`, see [`conversation()`] |
//! | what a chat is told | `[{role, content, created_at, score}…]`, see [`remembered`] |
//! | bank … | see [`mod@bank`] |
//! | topic … | see [`mod@topic`] |
//! | instance backends, actions, instances | see [`backends`], [`backend()`], [`actions`], [`instances`] |
//! | anything that failed | `{"error": {code, message, hint?}}`, see [`error`] |

pub mod bank;
mod context;
mod conversation;
mod error;
mod exported;
mod history;
mod ingested;
mod instance;
mod links;
mod memory;
mod reading;
mod reminder;
mod search;
mod time;
pub mod topic;
mod usage;
mod write;

pub use context::{context, smart_found};
pub use conversation::{added, conversation, conversation_summary, remembered};
pub use error::{error, tool_error};
pub use exported::exported;
pub use history::{
    bank_record, conversation_record, conversation_undone, deleted_entry, instance_record, instance_undone, logged, purged,
    record, restored, restored_entry, trashed, undone,
};
pub use ingested::{imported, ingested};
pub use instance::{actions, backend, backends, instances};
pub use links::{links_resolved, unlinked};
pub use memory::{memories, memory, memory_for_export, page};
pub use reading::reading;
pub use reminder::{notified, reminded, written_reminder};
pub use search::found;
pub use usage::usage;
pub use write::{deleted, written};

use serde::Serialize;
use serde_json::Value;

/// Turns one of our own shapes into a value.
fn value(shape: &impl Serialize) -> Value {
    serde_json::to_value(shape).expect("our shapes have text for keys and nothing that fails")
}
