//! The verbs of topics that agents may use, one a file.
//!
//! Their parameters are named as clients of topics know them; [`super::Set`] gives the tools other names where a client knows those.

mod delete;
mod files;
mod input;
mod read;
mod update;
mod view;
mod write;

use std::sync::Arc;

use memory_core::Tool;

/// Returns the tools of topics, and the one tool of files that is a set by itself.
pub(super) fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(view::View),
        Arc::new(read::Read),
        Arc::new(write::Write),
        Arc::new(update::Update),
        Arc::new(delete::Delete),
        Arc::new(files::Files),
    ]
}
