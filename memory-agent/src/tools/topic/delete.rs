//! The `topic_delete` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::read;
use super::input::{schema, told, topics};
use crate::json::topic as shapes;

/// Moves a topic to the trash.
#[derive(Debug)]
pub(super) struct Delete;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    filename: String,
}

impl Tool for Delete {
    fn name(&self) -> &'static str {
        "topic_delete"
    }

    fn description(&self) -> &'static str {
        "Delete a memory file that is no longer relevant"
    }

    fn parameters(&self) -> Value {
        schema(&json!({ "filename": { "type": "string", "minLength": 1 } }), &["filename"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (Input, _) = (read(parameters)?, topics(context)?);
        Ok(shapes::deleted(&memory_core::topic::delete(&topics, &input.filename).map_err(told)?))
    }
}
