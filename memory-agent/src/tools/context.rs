//! The `memory_context` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::object_schema;
use super::input::parse_input;
use crate::json;

/// Collects context for a prompt.
#[derive(Debug)]
pub(super) struct ContextTool;

#[derive(Debug, Deserialize)]
struct ContextInput {
    #[serde(default)]
    query: String,
    budget: Option<usize>,
}

impl Tool for ContextTool {
    fn name(&self) -> &'static str {
        "memory_context"
    }

    fn description(&self) -> &'static str {
        "Collect the memories about a prompt, within a budget of tokens. Memories that this session already received are left \
         out. Without a query: the memories that matter most."
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "query": { "type": "string" },
            "budget": { "type": "integer", "minimum": 1, "maximum": 100_000, "default": crate::CONTEXT_BUDGET, "description": "maximum number of tokens" }
        });
        object_schema(&properties, &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let ContextInput { query, budget } = parse_input(parameters)?;
        let budget = budget.unwrap_or(crate::CONTEXT_BUDGET);
        let gathered = memory_core::build_context(&context.services, &query, budget, &context.given, &context.now)?;
        Ok(json::context(&gathered))
    }
}
