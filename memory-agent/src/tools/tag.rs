//! The `memory_tag` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id_schema, object_schema};
use super::input::{invalid, parse_input};
use crate::json;

/// Adds tags to a memory and removes others.
#[derive(Debug)]
pub(super) struct TagTool;

#[derive(Debug, Deserialize)]
struct TagInput {
    id: String,
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    remove: Vec<String>,
}

impl Tool for TagTool {
    fn name(&self) -> &'static str {
        "memory_tag"
    }

    fn description(&self) -> &'static str {
        "Add tags to a memory, or remove tags."
    }

    fn parameters(&self) -> Value {
        let tags = json!({ "type": "array", "items": { "type": "string" } });
        object_schema(&json!({ "id": id_schema(), "add": tags, "remove": tags }), &["id"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let TagInput { id, add, remove } = parse_input(parameters)?;
        if add.is_empty() && remove.is_empty() {
            return Err(invalid("add, remove: set at least one tag".into()));
        }
        let stored = memory_core::tag(&context.services, &id, add.iter().collect(), remove.iter().collect())?;
        Ok(json::memory(&stored, context.services.inbox_ttl))
    }
}
