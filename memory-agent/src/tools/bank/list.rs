//! The `bank_list` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{object_schema, parse_bank, parse_input, run_on_banks};
use crate::json::bank as shapes;

/// Lists banks, or the keys of a bank.
#[derive(Debug)]
pub(super) struct BankListTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankListInput {
    bank: Option<String>,
    scope: Option<String>,
}

impl Tool for BankListTool {
    fn name(&self) -> &'static str {
        "bank_list"
    }

    fn description(&self) -> &'static str {
        "List memory banks or keys"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "bank": { "type": "string", "description": "Bank to list keys from (omit to list banks)" },
            "scope": { "type": "string", "enum": ["user", "project", "all"] }
        });
        object_schema(&properties, &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: BankListInput = parse_input(parameters)?;
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let Some(text) = &input.bank else { return Ok(shapes::listings(&memory_core::bank::list(banks, choice)?)) };
            let bank = parse_bank(text)?;
            if input.scope.as_deref() == Some("all") {
                return Ok(shapes::keys_in_all_scopes(&bank, &memory_core::bank::keys_by_folder(banks, &bank)?, false));
            }
            Ok(shapes::keys(&bank, &memory_core::bank::keys(banks, &bank, choice)?, false))
        })
    }
}
