//! The `memory_update` tool.

use memory_core::{Effect, Revision, SecretPolicy, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Replaces a passage of a memory.
#[derive(Debug)]
pub(super) struct UpdateTool;

#[derive(Debug, Deserialize)]
struct UpdateInput {
    id: String,
    old: String,
    new: String,
    version: Option<u64>,
}

impl Tool for UpdateTool {
    fn name(&self) -> &'static str {
        "memory_update"
    }

    fn description(&self) -> &'static str {
        "Correct a memory: replace `old`, which must occur in it exactly once, by `new`."
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "id": id_schema(),
            "old": { "type": "string", "minLength": 1 },
            "new": { "type": "string" },
            "version": { "type": "integer", "minimum": 0, "description": "version as read; a conflict if it has changed since" }
        });
        object_schema(&properties, &["id", "old", "new"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let UpdateInput { id, old, new, version } = parse_input(parameters)?;
        let revision = Revision { old, new, version };
        Ok(json::memory(
            &memory_core::revise(&context.services, &id, &revision, SecretPolicy::Refuse)?,
            context.services.inbox_ttl,
        ))
    }
}
