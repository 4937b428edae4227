//! `bank_list`

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::input::{answer, bank, banks, read, schema, scope, told};
use crate::json::bank as shapes;

/// Lists banks, or the keys of one.
#[derive(Debug)]
pub(super) struct List;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    bank: Option<String>,
    scope: Option<String>,
}

impl Tool for List {
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
        schema(&properties, &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, banks): (Input, _) = (read(parameters)?, banks(context)?);
        let choice = scope(input.scope.as_deref())?;
        let Some(text) = &input.bank else {
            return answer(&shapes::listings(&memory_core::bank::list(&banks, choice).map_err(told)?));
        };
        let bank = bank(text)?;
        answer(&shapes::keys(&bank, &memory_core::bank::keys(&banks, &bank, choice).map_err(told)?, true))
    }
}
