//! The `memory_list` tool.

use memory_core::{Effect, ListOrder, PageRequest, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{FilterInput, limit_schema, schema_with_filter};
use super::input::parse_input;
use crate::json;

/// Lists memories, newest first.
#[derive(Debug)]
pub(super) struct ListTool;

#[derive(Debug, Deserialize)]
struct ListInput {
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

/// Default number of results.
const DEFAULT_LIMIT: usize = 20;

impl Tool for ListTool {
    fn name(&self) -> &'static str {
        "memory_list"
    }

    fn description(&self) -> &'static str {
        "List memories, newest first."
    }

    fn parameters(&self) -> Value {
        let own = json!({ "limit": limit_schema(DEFAULT_LIMIT), "offset": { "type": "integer", "minimum": 0 } });
        schema_with_filter(own, &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let ListInput { limit, offset } = parse_input(parameters)?;
        let filter = parse_input::<FilterInput>(parameters)?.to_filter(context)?;
        let slice = PageRequest { order: ListOrder::Created, offset, limit: Some(limit.unwrap_or(DEFAULT_LIMIT)) };
        Ok(json::page(&memory_core::list(&context.services, &filter, &slice)?, context.services.inbox_ttl))
    }
}
