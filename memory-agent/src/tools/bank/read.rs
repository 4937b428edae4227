//! `bank_read`

use memory_core::bank::{BankError, Trouble};
use memory_core::json::JsonText;
use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::input::{answer, bank, banks, key, read, schema, scope, told};
use crate::json::bank as shapes;

/// Reads an entry, or a whole bank.
#[derive(Debug)]
pub(super) struct Read;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    bank: String,
    key: Option<String>,
    scope: Option<String>,
    #[serde(default, deserialize_with = "given")]
    default: Option<Value>,
}

impl Tool for Read {
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
        schema(&properties, &["bank"])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, banks): (Input, _) = (read(parameters)?, banks(context)?);
        let (bank, choice) = (bank(&input.bank)?, scope(input.scope.as_deref())?);
        let default = input.default.as_ref().map(JsonText::from);
        let found = match &input.key {
            Some(text) => {
                let key = key(&bank, text)?;
                memory_core::bank::read(&banks, &bank, &key, choice).map(|reading| shapes::reading(&reading))
            }
            None => memory_core::bank::read_bank(&banks, &bank, choice).map(|(_, found)| shapes::bank(&found)),
        };
        match (found, default) {
            (Err(error), Some(default)) if is_missing(&error) => answer(&shapes::instead(&default)),
            (found, _) => answer(&found.map_err(told)?),
        }
    }
}

/// Tells a default of `null` from none.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn is_missing(error: &BankError) -> bool {
    matches!(error.trouble, Trouble::BankNotFound | Trouble::KeyNotFound | Trouble::Expired)
}
