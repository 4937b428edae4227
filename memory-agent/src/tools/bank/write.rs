//! The `bank_write` tool.

use memory_core::bank::{BankWriteCondition, BankWriteRequest};
use memory_core::{Effect, SecretPolicy, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{key, object_schema, parse_bank, parse_input, run_on_banks};
use crate::exact_json;
use crate::json::bank as shapes;

/// Writes a value under a key.
#[derive(Debug)]
pub(super) struct BankWriteTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankWriteInput {
    bank: String,
    key: String,
    value: Value,
    scope: Option<String>,
    ttl: Option<u64>,
}

impl Tool for BankWriteTool {
    fn name(&self) -> &'static str {
        "bank_write"
    }

    fn description(&self) -> &'static str {
        "Write to a memory bank"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "bank": { "type": "string" },
            "key": { "type": "string" },
            "value": { "description": "Value to store (any JSON)" },
            "scope": { "type": "string", "enum": ["user", "project"] },
            "ttl": { "type": "integer", "minimum": 0, "description": "TTL in seconds" }
        });
        object_schema(&properties, &["bank", "key", "value"])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: BankWriteInput = parse_input(parameters)?;
        run_on_banks(context, input.scope.as_deref(), |banks, scope| {
            let bank = parse_bank(&input.bank)?;
            let (key, value) = (key(&bank, &input.key)?, exact_json::to_json_text(&input.value));
            let (ttl, condition, secrets) = (input.ttl, BankWriteCondition::Any, SecretPolicy::Refuse);
            let request = BankWriteRequest { bank, key, value, ttl, condition, scope, secrets };
            Ok(shapes::write_result(&memory_core::bank::write(banks, &request)?))
        })
    }
}
