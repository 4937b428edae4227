//! The `topic_write` tool.

use memory_core::topic::WriteRequest;
use memory_core::{Effect, Secrets, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::read;
use super::input::{schema, told, topics};
use crate::json::topic as shapes;

/// Writes a topic.
#[derive(Debug)]
pub(super) struct Write;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    filename: String,
    name: String,
    description: String,
    memory_type: String,
    content: String,
}

impl Tool for Write {
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
        schema(&properties, &["filename", "name", "description", "memory_type", "content"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (Input, _) = (read(parameters)?, topics(context)?);
        let request = WriteRequest {
            name: input.filename.parse().map_err(told)?,
            title: Some(input.name),
            description: Some(input.description),
            kind: Some(input.memory_type.parse().map_err(told)?),
            content: Some(input.content),
            secrets: Secrets::Refuse,
        };
        Ok(shapes::written(&memory_core::topic::write(&topics, &request).map_err(told)?))
    }
}
