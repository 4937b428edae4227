//! The `memory_read` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Returns a memory.
#[derive(Debug)]
pub(super) struct ReadTool;

#[derive(Debug, Deserialize)]
struct ReadInput {
    id: String,
}

impl Tool for ReadTool {
    fn name(&self) -> &'static str {
        "memory_read"
    }

    fn description(&self) -> &'static str {
        "Read one complete memory."
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "id": id_schema() }), &["id"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let ReadInput { id } = parse_input(parameters)?;
        Ok(json::memory(&memory_core::read(&context.services, &id)?, context.services.inbox_ttl))
    }
}
