//! The `bank_search` tool.

use memory_core::bank::BankSearchFields;
use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{object_schema, parse_input, run_on_banks};
use crate::json::bank as shapes;

/// Searches keys and values with a pattern.
#[derive(Debug)]
pub(super) struct BankSearchTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankSearchInput {
    pattern: String,
    #[serde(default)]
    search_values: bool,
    scope: Option<String>,
}

impl Tool for BankSearchTool {
    fn name(&self) -> &'static str {
        "bank_search"
    }

    fn description(&self) -> &'static str {
        "Search across memory banks"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "pattern": { "type": "string", "description": "Search pattern (regex)" },
            "search_values": { "type": "boolean", "description": "Search in values too" },
            "scope": { "type": "string", "enum": ["user", "project", "all"] }
        });
        object_schema(&properties, &["pattern"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: BankSearchInput = parse_input(parameters)?;
        let searched = if input.search_values { BankSearchFields::Values } else { BankSearchFields::Keys };
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let found = memory_core::bank::search(banks, &input.pattern, searched, choice)?;
            Ok(shapes::search_results(&found, searched))
        })
    }
}
