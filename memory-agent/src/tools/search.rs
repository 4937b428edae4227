//! The `memory_search` tool.

use memory_core::{Effect, Query, Ranking, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{FilterInput, limit, schema_with_filter};
use super::input::read;
use crate::json;

/// Searches memories by words.
#[derive(Debug)]
pub(super) struct Search;

#[derive(Debug, Deserialize)]
struct Input {
    query: String,
    limit: Option<usize>,
}

/// Default number of results.
pub(super) const USUAL: usize = 10;

impl Tool for Search {
    fn name(&self) -> &'static str {
        "memory_search"
    }

    fn description(&self) -> &'static str {
        "Find memories by their words, best first. \"phrase\", begin*, -without. Any language."
    }

    fn parameters(&self) -> Value {
        let own = json!({ "query": { "type": "string", "minLength": 1 }, "limit": limit(USUAL) });
        schema_with_filter(own, &["query"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let Input { query, limit } = read(parameters)?;
        let filter = read::<FilterInput>(parameters)?.filter(context)?;
        let query = Query { text: query, filter, limit: limit.unwrap_or(USUAL), ranking: Ranking::default() };
        Ok(json::found(&memory_core::search(&context.services, &query)?, false, context.services.inbox_ttl))
    }
}
