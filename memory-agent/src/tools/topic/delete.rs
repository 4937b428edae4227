//! The `topic_delete` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::parse_input;
use super::input::{object_schema, tool_error, topics_service};
use crate::json::topic as shapes;

/// Moves a topic to the trash.
#[derive(Debug)]
pub(super) struct TopicDeleteTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicDeleteInput {
    filename: String,
}

impl Tool for TopicDeleteTool {
    fn name(&self) -> &'static str {
        "topic_delete"
    }

    fn description(&self) -> &'static str {
        "Delete a memory file that is no longer relevant"
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "filename": { "type": "string", "minLength": 1 } }), &["filename"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (TopicDeleteInput, _) = (parse_input(parameters)?, topics_service(context)?);
        Ok(shapes::delete_result(&memory_core::topic::delete(&topics, &input.filename).map_err(tool_error)?))
    }
}
