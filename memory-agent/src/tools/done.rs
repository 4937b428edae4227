//! The `memory_done` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Marks a reminder as done.
#[derive(Debug)]
pub(super) struct DoneTool;

#[derive(Debug, Deserialize)]
struct DoneInput {
    id: String,
}

impl Tool for DoneTool {
    fn name(&self) -> &'static str {
        "memory_done"
    }

    fn description(&self) -> &'static str {
        "Mark a reminder as done."
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "id": id_schema() }), &["id"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let DoneInput { id } = parse_input(parameters)?;
        Ok(json::memory(&memory_core::done(&context.services, &id)?, context.services.inbox_ttl))
    }
}
