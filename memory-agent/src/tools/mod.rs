//! The tools that agents may call, with one file per tool.
//!
//! | tool | effect | listed by default |
//! |---|---|---|
//! | `memory_write` | stores a text | yes |
//! | `memory_read` | returns a memory | yes |
//! | `memory_delete` | moves a memory to the trash | yes |
//! | `memory_list` | lists memories, newest first | yes |
//! | `memory_search` | searches memories by words | yes |
//! | `memory_tag` | adds and removes tags | yes |
//! | `memory_smart_search` | searches memories by meaning | yes |
//! | `memory_update` | replaces a passage of a memory | yes |
//! | `memory_remind` | creates a reminder | yes |
//! | `memory_reminders` | lists reminders | yes |
//! | `memory_done` | marks a reminder as done | yes |
//! | `memory_context` | collects context for a prompt | no |
//! | `memory_link` | links two memories | no |
//! | `memory_backlinks` | lists the memories that link to one | no |
//! | `memory_undo` | reverts an operation of this agent | no |
//! | `history_append`, `kv_get`, …: each action of [`crate::instance`] | sessions and values | no, only if selected |
//! | `topic_view`, `topic_read`, `topic_write`, … | topics and their index | no, only if selected |
//! | `memory` | files of the topics folder, as in the Messages API | no, only if selected |
//! | `bank_read`, `bank_write`, `bank_update`, `bank_delete` | JSON values under keys | no |
//! | `bank_list`, `bank_query`, `bank_search` | lists and queries of banks, with jq | no |
//!
//! The results are those of the corresponding commands, see [`crate::json`].

mod backlinks;
mod bank;
mod context;
mod delete;
mod done;
mod filter;
mod hints;
mod input;
mod instance;
mod link;
mod list;
mod read;
mod remind;
mod reminders;
mod search;
mod selection;
mod smart_search;
mod tag;
mod topic;
mod undo;
mod update;
mod write;

pub(crate) use hints::{rewrite_hint, rewrite_result, without_commands};
pub(crate) use selection::{AvailableServices, duplicate_name, is_tool_name, not_found, select_tools};
pub use selection::{ToolSelection, ToolSet};

use std::sync::Arc;

use memory_core::Tool;

/// The tools that are listed by default: each schema costs tokens in every prompt.
pub const DEFAULT: [&str; 11] = [
    "memory_write",
    "memory_read",
    "memory_delete",
    "memory_list",
    "memory_search",
    "memory_tag",
    "memory_smart_search",
    "memory_update",
    "memory_remind",
    "memory_reminders",
    "memory_done",
];

/// Returns all tools, except those of instances.
pub fn all() -> Vec<Arc<dyn Tool>> {
    let mut all: Vec<Arc<dyn Tool>> = vec![
        Arc::new(write::WriteTool),
        Arc::new(read::ReadTool),
        Arc::new(delete::DeleteTool),
        Arc::new(list::ListTool),
        Arc::new(search::SearchTool),
        Arc::new(tag::TagTool),
        Arc::new(smart_search::SmartSearchTool),
        Arc::new(update::UpdateTool),
        Arc::new(remind::RemindTool),
        Arc::new(reminders::RemindersTool),
        Arc::new(done::DoneTool),
        Arc::new(context::ContextTool),
        Arc::new(link::LinkTool),
        Arc::new(backlinks::BacklinksTool),
        Arc::new(undo::UndoTool),
    ];
    all.extend(bank::all());
    all.extend(topic::all());
    all
}
