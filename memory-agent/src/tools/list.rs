//! The `memory_list` tool.

use memory_core::{Effect, Order, Slice, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{FilterInput, limit, schema_with_filter};
use super::input::read;
use crate::json;

/// Lists memories, newest first.
#[derive(Debug)]
pub(super) struct List;

#[derive(Debug, Deserialize)]
struct Input {
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

/// Default number of results.
const USUAL: usize = 20;

impl Tool for List {
    fn name(&self) -> &'static str {
        "memory_list"
    }

    fn description(&self) -> &'static str {
        "List memories, newest first."
    }

    fn parameters(&self) -> Value {
        let own = json!({ "limit": limit(USUAL), "offset": { "type": "integer", "minimum": 0 } });
        schema_with_filter(own, &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let Input { limit, offset } = read(parameters)?;
        let filter = read::<FilterInput>(parameters)?.filter(context)?;
        let slice = Slice { order: Order::Created, offset, limit: Some(limit.unwrap_or(USUAL)) };
        Ok(json::page(&memory_core::list(&context.services, &filter, &slice)?, context.services.inbox_ttl))
    }
}
