//! The `memory_backlinks` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{id, schema};
use super::input::read;
use crate::json;

/// Lists the memories that link to a memory.
#[derive(Debug)]
pub(super) struct Backlinks;

#[derive(Debug, Deserialize)]
struct Input {
    id: String,
}

impl Tool for Backlinks {
    fn name(&self) -> &'static str {
        "memory_backlinks"
    }

    fn description(&self) -> &'static str {
        "List the memories that link to a memory, by a link or a [[wikilink]]."
    }

    fn parameters(&self) -> Value {
        schema(&json!({ "id": id() }), &["id"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let Input { id } = read(parameters)?;
        Ok(json::memories(&memory_core::backlinks(&context.services, &id)?, context.services.inbox_ttl))
    }
}
