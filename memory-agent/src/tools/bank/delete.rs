//! The `bank_delete` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{key, object_schema, parse_bank, parse_input, run_on_banks};
use crate::json::bank as shapes;

/// Deletes an entry, or a whole bank.
#[derive(Debug)]
pub(super) struct BankDeleteTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankDeleteInput {
    bank: String,
    key: Option<String>,
    scope: Option<String>,
}

impl Tool for BankDeleteTool {
    fn name(&self) -> &'static str {
        "bank_delete"
    }

    fn description(&self) -> &'static str {
        "Delete memory entry or bank"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "bank": { "type": "string" },
            "key": { "type": "string", "description": "Key to delete (omit to delete entire bank)" },
            "scope": { "type": "string", "enum": ["user", "project"] }
        });
        object_schema(&properties, &["bank"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: BankDeleteInput = parse_input(parameters)?;
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let key = input.key.as_deref().map(|text| key(&bank, text)).transpose()?;
            let scope = match &key {
                Some(key) => memory_core::bank::delete(banks, &bank, key, choice)?,
                None => memory_core::bank::delete_bank(banks, &bank, choice)?,
            };
            Ok(shapes::delete_result(&bank, key.as_ref(), scope))
        })
    }
}
