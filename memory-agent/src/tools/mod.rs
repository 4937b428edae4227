//! The verbs that agents may use, one a file.
//!
//! | tool | what it does | listed unasked |
//! |---|---|---|
//! | `memory_write` | remembers a text | yes |
//! | `memory_read` | shows one memory | yes |
//! | `memory_delete` | moves one to the trash | yes |
//! | `memory_list` | lists them, newest first | yes |
//! | `memory_search` | finds them by words | yes |
//! | `memory_tag` | adds and removes tags | yes |
//! | `memory_smart_search` | finds them by what is meant | yes |
//! | `memory_update` | replaces a passage of one | yes |
//! | `memory_remind` | reminds of a text when it is due | yes |
//! | `memory_reminders` | lists reminders | yes |
//! | `memory_done` | marks one as done | yes |
//! | `memory_context` | gathers what matters for a prompt | no |
//! | `memory_link` | links two | no |
//! | `memory_backlinks` | lists what leads to one | no |
//! | `memory_undo` | takes back what this agent did | no |
//! | `history_append`, `kv_get` and so on: each action of [`crate::instance`]s of history and kv | sessions and values | no, and only where they are named |
//! | `topic_view`, `topic_read`, `topic_write`, `topic_update`, `topic_delete` | topics, and their index | no, and only where they are named |
//! | `memory` | any files of the folder of topics, as the Messages API has it | no, and only where it is named |
//! | `bank_read`, `bank_write`, `bank_update`, `bank_delete`, `bank_list`, `bank_query`, `bank_search` | JSON under keys, and jq | no |
//!
//! Their answers are those of the commands of the same name, see [`crate::json`].

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
mod offer;
mod read;
mod remind;
mod reminders;
mod search;
mod smart_search;
mod tag;
mod topic;
mod undo;
mod update;
mod write;

pub(crate) use hints::{rewrite, rewrite_answer, without_commands};
pub use offer::{Offer, Set};
pub(crate) use offer::{There, not_found, offered};

use std::sync::Arc;

use memory_core::Tool;

/// The tools that are listed unasked: schemas cost every prompt tokens.
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

/// Returns all tools.
pub fn all() -> Vec<Arc<dyn Tool>> {
    let mut all: Vec<Arc<dyn Tool>> = vec![
        Arc::new(write::Write),
        Arc::new(read::Read),
        Arc::new(delete::Delete),
        Arc::new(list::List),
        Arc::new(search::Search),
        Arc::new(tag::Tag),
        Arc::new(smart_search::SmartSearch),
        Arc::new(update::Update),
        Arc::new(remind::Remind),
        Arc::new(reminders::ListReminders),
        Arc::new(done::Done),
        Arc::new(context::GatherContext),
        Arc::new(link::Link),
        Arc::new(backlinks::Backlinks),
        Arc::new(undo::Undo),
    ];
    all.extend(bank::all());
    all.extend(topic::all());
    all
}
