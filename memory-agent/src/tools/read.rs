//! The `memory_read` tool.

use memory_core::{AnswerDetail, Effect, MemoryStoreExt, StoreError, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::brief::{AnswerBudget, read_memory};
use super::built_in::BuiltInTool;
use super::cursor::parse_cursor;
use crate::json;

/// Returns a memory.
pub(super) const MEMORY_READ: BuiltInTool<ReadInput> = BuiltInTool {
    name: "memory_read",
    description: "Read the whole text of a memory that another tool shows in part. Returns a long text in parts.",
    effect: Effect::Reads,
    execute: |context, ReadInput { id, budget, cursor }| {
        let offset = parse_cursor(cursor.as_deref())?;
        let found = context.services.store.get_by(&id);
        let stored = found.map_err(|error| explain_missing(context, &id, error))?;
        context.recalled.add(None, [&stored]);
        Ok(match context.detail {
            AnswerDetail::Full => json::memory(&stored, context.services.inbox_ttl),
            AnswerDetail::Brief => read_memory(context, &stored, offset, AnswerBudget::new(budget)),
        })
    },
};

/// Returns the error for a memory that cannot be read; a deleted one can be restored.
fn explain_missing(context: &ToolContext, id: &str, error: StoreError) -> ToolError {
    let is_deleted = matches!(error, StoreError::NotFound { .. })
        && memory_core::is_in_trash(&context.services, id);
    let error = ToolError::from(error);
    if is_deleted {
        error.with_hint("it was deleted; memory_undo with this id restores it")
    } else {
        error
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadInput {
    id: String,
    /// tokens, 200-8000
    #[schemars(with = "Option<i64>")]
    budget: Option<usize>,
    cursor: Option<String>,
}
