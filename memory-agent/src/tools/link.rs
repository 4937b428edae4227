//! The `memory_link` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Links two memories.
#[derive(Debug)]
pub(super) struct LinkTool;

#[derive(Debug, Deserialize)]
struct LinkInput {
    source: String,
    target: String,
}

impl Tool for LinkTool {
    fn name(&self) -> &'static str {
        "memory_link"
    }

    fn description(&self) -> &'static str {
        "Link two memories in both directions."
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "source": id_schema(), "target": id_schema() }), &["source", "target"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let LinkInput { source, target } = parse_input(parameters)?;
        let (first, second) = memory_core::link(&context.services, &source, &target)?;
        Ok(json::memories([&first, &second], context.services.inbox_ttl))
    }
}
