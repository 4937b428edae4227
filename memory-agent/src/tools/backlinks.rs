//! The `memory_backlinks` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Lists the memories that link to a memory.
#[derive(Debug)]
pub(super) struct BacklinksTool;

#[derive(Debug, Deserialize)]
struct BacklinksInput {
    id: String,
}

impl Tool for BacklinksTool {
    fn name(&self) -> &'static str {
        "memory_backlinks"
    }

    fn description(&self) -> &'static str {
        "List the memories that link to a memory, by a link or a [[wikilink]]."
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "id": id_schema() }), &["id"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let BacklinksInput { id } = parse_input(parameters)?;
        Ok(json::memories(&memory_core::backlinks(&context.services, &id)?, context.services.inbox_ttl))
    }
}
