//! The `bank_query` tool.

use memory_core::bank::BankQueryTarget;
use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{key, object_schema, parse_bank, parse_input, run_on_banks};
use crate::json::bank as shapes;

/// Applies a jq filter to an entry or a bank.
#[derive(Debug)]
pub(super) struct BankQueryTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankQueryInput {
    bank: String,
    key: Option<String>,
    filter: String,
    scope: Option<String>,
}

impl Tool for BankQueryTool {
    fn name(&self) -> &'static str {
        "bank_query"
    }

    fn description(&self) -> &'static str {
        "Query memory with jq filter"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "bank": { "type": "string" },
            "key": { "type": "string" },
            "filter": { "type": "string", "description": "jq filter expression" },
            "scope": { "type": "string", "enum": ["user", "project"] }
        });
        object_schema(&properties, &["bank", "filter"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: BankQueryInput = parse_input(parameters)?;
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let key = input.key.as_deref().map(|text| key(&bank, text)).transpose()?;
            let subject = key.as_ref().map_or(BankQueryTarget::Bank, BankQueryTarget::Key);
            Ok(shapes::query_results(&memory_core::bank::query(banks, &bank, subject, &input.filter, choice)?))
        })
    }
}
