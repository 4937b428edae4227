//! The tools that agents may call.
//!
//! | tool | effect | listed by default for |
//! |---|---|---|
//! | `memory_write` | stores a text | programs, models |
//! | `memory_read` | returns a memory | programs, models |
//! | `memory_delete` | moves a memory to the trash | programs, models |
//! | `memory_list` | lists memories, newest first | programs, models |
//! | `memory_search` | searches memories, by plain words or with operators | programs, models |
//! | `memory_tag` | adds and removes tags | programs, models |
//! | `memory_smart_search` | searches memories by plain words | programs |
//! | `memory_update` | replaces a passage of a memory | models |
//! | `memory_remind` | creates a reminder | models |
//! | `memory_reminders` | lists reminders | models |
//! | `memory_done` | marks a reminder as done | models |
//! | `memory_context` | collects context for a prompt | none |
//! | `memory_link` | links two memories | none |
//! | `memory_backlinks` | lists the memories that link to one | none |
//! | `memory_undo` | reverts an operation of this agent | models |
//! | `history_append`, `kv_get`, …: each action of [`crate::instance`] | sessions and values | none, only if selected |
//! | `topic_view`, `topic_read`, `topic_write`, … | topics and their index | none, only if selected |
//! | `memory` | files of the topics folder, as in the Messages API | none, only if selected |
//! | `bank_read`, `bank_write`, `bank_update`, `bank_delete` | JSON values under keys | none |
//! | `bank_list`, `bank_query`, `bank_search` | lists and queries of banks, with jq | none |
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
pub(crate) use normalize::{fit_types, normalize_parameters};
pub(crate) use selection::{
    AvailableServices, ToolListing, duplicate_name, is_tool_name, not_found, select_tools,
};
pub use selection::{ToolSelection, ToolSet};

use std::sync::Arc;

use memory_core::Tool;

/// The tools that are listed for programs by default: those of the specification of the tools.
pub const DEFAULT: [&str; 7] = [
    "memory_write",
    "memory_read",
    "memory_delete",
    "memory_list",
    "memory_search",
    "memory_tag",
    "memory_smart_search",
];

/// The tools that are listed for models by default: each schema costs tokens in every prompt.
pub const DEFAULT_FOR_MODELS: [&str; 11] = [
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
