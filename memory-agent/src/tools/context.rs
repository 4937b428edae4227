//! The `memory_context` tool.

use memory_core::Effect;
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::filter::object_schema;
use super::input::parse_input;
use crate::json;

/// Collects context for a prompt.
pub(super) const MEMORY_CONTEXT: BuiltInTool = BuiltInTool {
    name: "memory_context",
    description: "Collect the memories about a prompt, within a budget of tokens. Memories that this session already received are left \
 out. Without a query: the memories that matter most.",
    effect: Effect::Reads,
    parameters: || {
        let properties = json!({
            "query": { "type": "string" },
            "budget": { "type": "integer", "minimum": 1, "maximum": 100_000, "default": crate::CONTEXT_BUDGET, "description": "maximum number of tokens" }
        });
        object_schema(&properties, &[])
    },
    execute: |context, parameters| {
        let ContextInput { query, budget } = parse_input(parameters)?;
        let budget = budget.unwrap_or(crate::CONTEXT_BUDGET);
        let gathered = memory_core::build_context(&context.services, &query, budget, &context.given, &context.now)?;
        context.recalled.add(Some(&query), gathered.recalled());
        Ok(json::context(&gathered))
    },
};

#[derive(Debug, Deserialize)]
struct ContextInput {
    #[serde(default)]
    query: String,
    budget: Option<usize>,
}
