//! The `memory_delete` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Moves a memory to the trash.
#[derive(Debug)]
pub(super) struct DeleteTool;

#[derive(Debug, Deserialize)]
struct DeleteInput {
    id: String,
}

impl Tool for DeleteTool {
    fn name(&self) -> &'static str {
        "memory_delete"
    }

    fn description(&self) -> &'static str {
        "Move a memory that is wrong or no longer wanted to the trash; it can be restored."
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "id": id_schema() }), &["id"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let DeleteInput { id } = parse_input(parameters)?;
        Ok(json::delete_result(&memory_core::delete(&context.services, &id)?))
    }
}
