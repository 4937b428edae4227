//! The `memory_smart_search` tool.

use memory_core::{Effect, Filter, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{limit_schema, object_schema};
use super::input::parse_input;
use super::search::USUAL;
use crate::json;

/// Searches memories by meaning.
#[derive(Debug)]
pub(super) struct SmartSearchTool;

#[derive(Debug, Deserialize)]
struct SmartSearchInput {
    query: String,
    #[serde(default)]
    tags: Vec<String>,
    limit: Option<usize>,
}

impl Tool for SmartSearchTool {
    fn name(&self) -> &'static str {
        "memory_smart_search"
    }

    fn description(&self) -> &'static str {
        "Search in plain words, as in \"decisions about the database last week\": times and categories are recognized, \
         near-duplicates come last."
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "query": { "type": "string", "minLength": 1 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "limit": limit_schema(USUAL)
        });
        object_schema(&properties, &["query"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let SmartSearchInput { query, tags, limit } = parse_input(parameters)?;
        let filter = Filter { tags: tags.iter().collect(), ..Filter::default() };
        let limit = limit.unwrap_or(USUAL);
        let answer = memory_core::smart_search(&context.services, &query, &filter, limit, &context.now)?;
        Ok(json::smart_search_results(&answer, context.services.inbox_ttl))
    }
}
