//! The `memory_search` tool.

use memory_core::{Effect, Query, Ranking, Tool, ToolContext, ToolError, fit_budget};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{FilterInput, limit_schema, schema_with_filter};
use super::input::parse_input;
use crate::json;

/// Searches memories by words.
#[derive(Debug)]
pub(super) struct SearchTool;

#[derive(Debug, Deserialize)]
struct SearchInput {
    query: String,
    limit: Option<usize>,
    budget: Option<usize>,
}

/// The number of hits that are considered for a budget if the caller sets no limit.
const LIMIT_FOR_BUDGET: usize = 100;

/// Default number of results.
pub(super) const USUAL: usize = 10;

impl Tool for SearchTool {
    fn name(&self) -> &'static str {
        "memory_search"
    }

    fn description(&self) -> &'static str {
        "Find memories by their words, best first. \"phrase\", begin*, -without. Any language."
    }

    fn parameters(&self) -> Value {
        let own =
            json!({ "query": { "type": "string", "minLength": 1 }, "limit": limit_schema(USUAL), "budget": budget_schema() });
        schema_with_filter(own, &["query"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let SearchInput { query, limit, budget } = parse_input(parameters)?;
        let filter = parse_input::<FilterInput>(parameters)?.to_filter(context)?;
        let default = if budget.is_some() { LIMIT_FOR_BUDGET } else { USUAL };
        let query = Query { text: query, filter, limit: limit.unwrap_or(default), ranking: Ranking::default() };
        let inbox_ttl = context.services.inbox_ttl;
        let mut found = memory_core::search(&context.services, &query)?;
        if let Some(budget) = budget {
            found.hits = fit_budget(found.hits, &query.text, budget, &|hit| json::hit_tokens(hit, inbox_ttl));
        }
        Ok(json::search_results(&found, false, inbox_ttl))
    }
}

fn budget_schema() -> Value {
    json!({ "type": "integer", "minimum": 200, "maximum": 100_000, "description": "tokens; hits that exceed it are left out" })
}
