//! The `topic_write` tool.

use memory_core::topic::TopicWriteRequest;
use memory_core::{Effect, SecretPolicy, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::parse_input;
use super::input::{object_schema, tool_error, topics_service};
use crate::json::topic as shapes;

/// Writes a topic.
#[derive(Debug)]
pub(super) struct TopicWriteTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicWriteInput {
    filename: String,
    name: String,
    description: String,
    memory_type: String,
    content: String,
}

impl Tool for TopicWriteTool {
    fn name(&self) -> &'static str {
        "topic_write"
    }

    fn description(&self) -> &'static str {
        "Create or overwrite a memory file"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "filename": { "type": "string", "minLength": 1, "description": "such as user_prefs.md" },
            "name": { "type": "string", "minLength": 1, "description": "title of the topic" },
            "description": { "type": "string", "minLength": 1, "description": "one line for the index" },
            "memory_type": { "type": "string", "enum": ["user", "feedback", "project", "reference"] },
            "content": { "type": "string", "description": "Markdown, without front matter" }
        });
        object_schema(&properties, &["filename", "name", "description", "memory_type", "content"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (TopicWriteInput, _) = (parse_input(parameters)?, topics_service(context)?);
        let request = TopicWriteRequest {
            name: input.filename.parse().map_err(tool_error)?,
            title: Some(input.name),
            description: Some(input.description),
            kind: Some(input.memory_type.parse().map_err(tool_error)?),
            content: Some(input.content),
            secrets: SecretPolicy::Refuse,
        };
        Ok(shapes::write_result(&memory_core::topic::write(&topics, &request).map_err(tool_error)?))
    }
}
