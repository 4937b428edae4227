//! The topic tools, with one file per tool.
//!
//! Their parameters have the names that clients of topics expect; [`super::Set`] renames the tools for clients that
//! expect other tool names.

mod delete;
mod files;
mod input;
mod read;
mod update;
mod view;
mod write;

use std::sync::Arc;

use memory_core::Tool;

/// Returns the topic tools, and the file tool, which is a set of its own.
pub(super) fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(view::TopicViewTool),
        Arc::new(read::TopicReadTool),
        Arc::new(write::TopicWriteTool),
        Arc::new(update::TopicUpdateTool),
        Arc::new(delete::TopicDeleteTool),
        Arc::new(files::FilesTool),
    ]
}
