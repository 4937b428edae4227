//! The bank tools, with one file per tool.
//!
//! Their parameters have the names and descriptions that clients of banks expect; [`super::Set`] renames the tools for
//! clients that expect other tool names. The results are those of the corresponding commands, see
//! [`crate::json::bank`], and numbers keep every digit, see [`crate::exact`].

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

/// Returns the bank tools.
pub(super) fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::BankReadTool),
        Arc::new(write::BankWriteTool),
        Arc::new(update::BankUpdateTool),
        Arc::new(delete::BankDeleteTool),
        Arc::new(list::BankListTool),
        Arc::new(query::BankQueryTool),
        Arc::new(search::BankSearchTool),
    ]
}
