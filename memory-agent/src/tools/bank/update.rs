//! The `bank_update` tool.

use memory_core::bank::MissingKey;
use memory_core::{Effect, SecretPolicy, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{key, object_schema, parse_bank, parse_input, run_on_banks};
use crate::json::bank as shapes;

/// Changes a value with a jq filter.
#[derive(Debug)]
pub(super) struct BankUpdateTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankUpdateInput {
    bank: String,
    key: String,
    filter: String,
    scope: Option<String>,
}

impl Tool for BankUpdateTool {
    fn name(&self) -> &'static str {
        "bank_update"
    }

    fn description(&self) -> &'static str {
        "Update memory entry with jq filter"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "bank": { "type": "string" },
            "key": { "type": "string" },
            "filter": { "type": "string", "description": "jq filter to apply" },
            "scope": { "type": "string", "enum": ["user", "project"] }
        });
        object_schema(&properties, &["bank", "key", "filter"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: BankUpdateInput = parse_input(parameters)?;
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let (key, filter) = (key(&bank, &input.key)?, &input.filter);
            let done = memory_core::bank::update(banks, &bank, &key, filter, choice, MissingKey::Refuse, SecretPolicy::Refuse);
            Ok(shapes::update_result(&done?))
        })
    }
}
