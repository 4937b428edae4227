//! The `topic_update` tool.

use memory_core::{Effect, Secrets, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::read;
use super::input::{schema, told, topics};
use crate::json::topic as shapes;

/// Replaces a passage of a topic.
#[derive(Debug)]
pub(super) struct Update;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    filename: String,
    old_text: String,
    new_text: String,
}

impl Tool for Update {
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
        schema(&properties, &["filename", "old_text", "new_text"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (Input, _) = (read(parameters)?, topics(context)?);
        let Input { filename, old_text, new_text } = input;
        let updated = memory_core::topic::update(&topics, &filename, &old_text, &new_text, Secrets::Refuse);
        Ok(shapes::written(&updated.map_err(told)?))
    }
}
