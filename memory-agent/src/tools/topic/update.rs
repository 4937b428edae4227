//! The `topic_update` tool.

use memory_core::{Effect, SecretPolicy, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::parse_input;
use super::input::{object_schema, tool_error, topics_service};
use crate::json::topic as shapes;

/// Replaces a passage of a topic.
#[derive(Debug)]
pub(super) struct TopicUpdateTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicUpdateInput {
    filename: String,
    old_text: String,
    new_text: String,
}

impl Tool for TopicUpdateTool {
    fn name(&self) -> &'static str {
        "topic_update"
    }

    fn description(&self) -> &'static str {
        "Replace text in a memory file; the old text must occur exactly once"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "filename": { "type": "string", "minLength": 1 },
            "old_text": { "type": "string", "minLength": 1 },
            "new_text": { "type": "string" }
        });
        object_schema(&properties, &["filename", "old_text", "new_text"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (TopicUpdateInput, _) = (parse_input(parameters)?, topics_service(context)?);
        let TopicUpdateInput { filename, old_text, new_text } = input;
        let updated = memory_core::topic::update(&topics, &filename, &old_text, &new_text, SecretPolicy::Refuse);
        Ok(shapes::write_result(&updated.map_err(tool_error)?))
    }
}
