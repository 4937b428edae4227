//! The verbs of banks that agents may use, one a file.
//!
//! Their parameters are named and described as clients of banks know them; [`super::Set`] gives the tools other names where a client
//! knows those. Their answers are those of the commands of the same name, see [`crate::json::bank`], and numbers have every digit
//! that was written, see [`crate::exact`].

mod delete;
mod input;
mod list;
mod query;
mod read;
mod search;
mod update;
mod write;

use std::sync::Arc;

use memory_core::Tool;

/// Returns the tools of banks.
pub(super) fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::Read),
        Arc::new(write::Write),
        Arc::new(update::Update),
        Arc::new(delete::Delete),
        Arc::new(list::List),
        Arc::new(query::Query),
        Arc::new(search::Search),
    ]
}
