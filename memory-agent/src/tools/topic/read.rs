//! The `topic_read` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input;
use super::input::{schema, told, topics};
use crate::json::topic as shapes;

/// Reads a topic.
#[derive(Debug)]
pub(super) struct Read;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    filename: String,
}

impl Tool for Read {
    fn name(&self) -> &'static str {
        "topic_read"
    }

    fn description(&self) -> &'static str {
        "Read a memory file that the index lists"
    }

    fn parameters(&self) -> Value {
        schema(&json!({ "filename": { "type": "string", "minLength": 1 } }), &["filename"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (Input, _) = (input::read(parameters)?, topics(context)?);
        Ok(shapes::reading(&memory_core::topic::read(&topics, &input.filename).map_err(told)?))
    }
}
