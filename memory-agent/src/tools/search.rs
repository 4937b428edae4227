//! The tools that search memories.

use memory_core::{Effect, Filter, Query, Ranking, fit_budget};
use serde::Deserialize;
use serde_json::{Value, json};

use super::built_in::BuiltInTool;
use super::filter::{FilterInput, limit_schema, object_schema, schema_with_filter};
use super::input::parse_input;
use crate::json;

/// Searches memories by words.
pub(super) const MEMORY_SEARCH: BuiltInTool = BuiltInTool {
    name: "memory_search",
    description: "Find memories by their words, best first. \"phrase\", begin*, -without. Any language.",
    effect: Effect::Reads,
    parameters: || {
        let own =
            json!({ "query": { "type": "string", "minLength": 1 }, "limit": limit_schema(USUAL), "budget": budget_schema() });
        schema_with_filter(own, &["query"])
    },
    execute: |context, parameters| {
        let SearchInput { query, limit, budget } = parse_input(parameters)?;
        let filter = parse_input::<FilterInput>(parameters)?.to_filter(context)?;
        let default = if budget.is_some() { LIMIT_FOR_BUDGET } else { USUAL };
        let query = Query { text: query, filter, limit: limit.unwrap_or(default), ranking: Ranking::default() };
        let inbox_ttl = context.services.inbox_ttl;
        let mut found = memory_core::search(&context.services, &query)?;
        if let Some(budget) = budget {
            found.hits = fit_budget(found.hits, &query.text, budget, &|hit| json::hit_tokens(hit, inbox_ttl));
        }
        context.recalled.add(Some(&query.text), &found.hits);
        Ok(json::search_results(&found, false, inbox_ttl))
    },
};

#[derive(Debug, Deserialize)]
struct SearchInput {
    query: String,
    limit: Option<usize>,
    budget: Option<usize>,
}

/// The number of hits that are considered for a budget if the caller sets no limit.
const LIMIT_FOR_BUDGET: usize = 100;

/// Default number of results.
const USUAL: usize = 10;

fn budget_schema() -> Value {
    json!({ "type": "integer", "minimum": 200, "maximum": 100_000, "description": "tokens; hits that exceed it are left out" })
}

/// Searches memories by meaning.
pub(super) const MEMORY_SMART_SEARCH: BuiltInTool = BuiltInTool {
    name: "memory_smart_search",
    description: "Search in plain words, as in \"decisions about the database last week\": times and categories are recognized, \
 near-duplicates come last.",
    effect: Effect::Reads,
    parameters: || {
        let properties = json!({
            "query": { "type": "string", "minLength": 1 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "limit": limit_schema(USUAL)
        });
        object_schema(&properties, &["query"])
    },
    execute: |context, parameters| {
        let SmartSearchInput { query, tags, limit } = parse_input(parameters)?;
        let filter = Filter { tags: tags.iter().collect(), ..Filter::default() };
        let limit = limit.unwrap_or(USUAL);
        let answer = memory_core::smart_search(&context.services, &query, &filter, limit, &context.now)?;
        context.recalled.add(Some(&query), &answer.found.hits);
        Ok(json::smart_search_results(&answer, context.services.inbox_ttl))
    },
};

#[derive(Debug, Deserialize)]
struct SmartSearchInput {
    query: String,
    #[serde(default)]
    tags: Vec<String>,
    limit: Option<usize>,
}
