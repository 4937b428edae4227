//! The `bank_read` tool.

use memory_core::bank::{BankError, BankErrorKind};
use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::input::{key, object_schema, parse_bank, parse_input, run_on_banks};
use crate::exact_json;
use crate::json::bank as shapes;

/// Reads an entry, or a whole bank.
#[derive(Debug)]
pub(super) struct BankReadTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BankReadInput {
    bank: String,
    key: Option<String>,
    scope: Option<String>,
    #[serde(default, deserialize_with = "given")]
    default: Option<Value>,
}

impl Tool for BankReadTool {
    fn name(&self) -> &'static str {
        "bank_read"
    }

    fn description(&self) -> &'static str {
        "Read from a memory bank"
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "bank": { "type": "string", "description": "Memory bank name" },
            "key": { "type": "string", "description": "Key to read (optional, reads all if omitted)" },
            "scope": { "type": "string", "enum": ["user", "project"] },
            "default": { "description": "Default value if key not found" }
        });
        object_schema(&properties, &["bank"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: BankReadInput = parse_input(parameters)?;
        let default = input.default.as_ref().map(exact_json::to_json_text);
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let found = match &input.key {
                Some(text) => {
                    let key = key(&bank, text)?;
                    memory_core::bank::read(banks, &bank, &key, choice).map(|reading| shapes::entry(&reading))
                }
                None => memory_core::bank::read_bank(banks, &bank, choice).and_then(|(_, found)| {
                    Ok(shapes::bank_with_warning(&found, &memory_core::bank::find_folders(banks, &bank, choice)?))
                }),
            };
            match (found, default) {
                (Err(error), Some(default)) if is_missing(&error) => Ok(shapes::default_entry(&default)),
                (found, _) => found,
            }
        })
    }
}

/// Deserializes an explicit `null` as a default value, unlike a missing field.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn is_missing(error: &BankError) -> bool {
    matches!(error.trouble, BankErrorKind::BankNotFound | BankErrorKind::KeyNotFound | BankErrorKind::Expired)
}
