//! The `topic_read` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input;
use super::input::{object_schema, tool_error, topics_service};
use crate::json::topic as shapes;

/// Reads a topic.
#[derive(Debug)]
pub(super) struct TopicReadTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicReadInput {
    filename: String,
}

impl Tool for TopicReadTool {
    fn name(&self) -> &'static str {
        "topic_read"
    }

    fn description(&self) -> &'static str {
        "Read a memory file that the index lists"
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "filename": { "type": "string", "minLength": 1 } }), &["filename"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (TopicReadInput, _) = (input::parse_input(parameters)?, topics_service(context)?);
        Ok(shapes::full_topic(&memory_core::topic::read(&topics, &input.filename).map_err(tool_error)?))
    }
}
