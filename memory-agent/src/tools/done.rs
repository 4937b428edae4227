//! The `memory_done` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id, schema};
use super::input::read;
use crate::json;

/// Marks a reminder as done.
#[derive(Debug)]
pub(super) struct Done;

#[derive(Debug, Deserialize)]
struct Input {
    id: String,
}

impl Tool for Done {
    fn name(&self) -> &'static str {
        "memory_done"
    }

    fn description(&self) -> &'static str {
        "Mark a reminder as done."
    }

    fn parameters(&self) -> Value {
        schema(&json!({ "id": id() }), &["id"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let Input { id } = read(parameters)?;
        Ok(json::memory(&memory_core::done(&context.services, &id)?, context.services.inbox_ttl))
    }
}
