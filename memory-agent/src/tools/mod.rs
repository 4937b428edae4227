//! The tools that agents may call.
//!
//! | tool | effect | listed by default |
//! |---|---|---|
//! | `memory_write` | stores a text | yes |
//! | `memory_read` | returns a memory | yes |
//! | `memory_delete` | moves a memory to the trash | yes |
//! | `memory_list` | lists memories, newest first | yes |
//! | `memory_search` | searches memories, by plain words or with operators | yes |
//! | `memory_tag` | adds and removes tags | yes |
//! | `memory_smart_search` | searches memories by plain words | no |
//! | `memory_update` | replaces a passage of a memory | yes |
//! | `memory_remind` | creates a reminder | yes |
//! | `memory_reminders` | lists reminders | yes |
//! | `memory_done` | marks a reminder as done | yes |
//! | `memory_context` | collects context for a prompt | no |
//! | `memory_link` | links two memories | no |
//! | `memory_backlinks` | lists the memories that link to one | no |
//! | `memory_undo` | reverts an operation of this agent | yes |
//! | `history_append`, `kv_get`, …: each action of [`crate::instance`] | sessions and values | no, only if selected |
//! | `topic_view`, `topic_read`, `topic_write`, … | topics and their index | no, only if selected |
//! | `memory` | files of the topics folder, as in the Messages API | no, only if selected |
//! | `bank_read`, `bank_write`, `bank_update`, `bank_delete` | JSON values under keys | no |
//! | `bank_list`, `bank_query`, `bank_search` | lists and queries of banks, with jq | no |
//!
//! The results are those of the corresponding commands, see [`crate::json`].

mod bank;
mod brief;
mod built_in;
mod context;
mod cursor;
mod delete;
mod files;
mod filter;
mod hints;
mod input;
mod instance;
mod link;
mod list;
mod normalize;
mod read;
mod reminders;
mod search;
mod selection;
mod tag;
mod topic;
mod undo;
mod update;
mod write;

#[cfg(feature = "server")]
pub(crate) use brief::start_of;
pub(crate) use hints::{rewrite_hint, rewrite_result, with_ids, without_commands};
pub(crate) use normalize::normalize_parameters;
pub(crate) use selection::{
    AvailableServices, duplicate_name, is_tool_name, not_found, select_tools,
};
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
    "memory_update",
    "memory_remind",
    "memory_reminders",
    "memory_done",
    "memory_undo",
];

/// Returns all tools, except those of instances.
pub fn all() -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(write::MEMORY_WRITE),
        Arc::new(read::MEMORY_READ),
        Arc::new(delete::MEMORY_DELETE),
        Arc::new(list::MEMORY_LIST),
        Arc::new(search::MEMORY_SEARCH),
        Arc::new(tag::MEMORY_TAG),
        Arc::new(search::MEMORY_SMART_SEARCH),
        Arc::new(update::MEMORY_UPDATE),
        Arc::new(reminders::MEMORY_REMIND),
        Arc::new(reminders::MEMORY_REMINDERS),
        Arc::new(reminders::MEMORY_DONE),
        Arc::new(context::MEMORY_CONTEXT),
        Arc::new(link::MEMORY_LINK),
        Arc::new(link::MEMORY_BACKLINKS),
        Arc::new(undo::MEMORY_UNDO),
    ];
    tools.extend(bank::bank_tools());
    tools.extend(topic::topic_tools());
    tools.push(Arc::new(files::FILES));
    tools
}
