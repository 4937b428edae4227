//! The `memory_reminders` tool.

use memory_core::{Effect, ReminderFilter, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{limit, schema};
use super::input::read;
use crate::json;

/// Lists reminders.
#[derive(Debug)]
pub(super) struct ListReminders;

#[derive(Debug, Deserialize)]
struct Input {
    #[serde(default)]
    which: Which,
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Which {
    #[default]
    Open,
    Due,
    All,
}

/// Default number of results.
const USUAL: usize = 20;

impl Tool for ListReminders {
    fn name(&self) -> &'static str {
        "memory_reminders"
    }

    fn description(&self) -> &'static str {
        "List reminders, earliest first."
    }

    fn parameters(&self) -> Value {
        let which = json!({ "type": "string", "enum": ["open", "due", "all"], "default": "open" });
        schema(&json!({ "which": which, "limit": limit(USUAL) }), &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let Input { which, limit } = read(parameters)?;
        let filter = match which {
            Which::Open => ReminderFilter::Open,
            Which::Due => ReminderFilter::Due,
            Which::All => ReminderFilter::All,
        };
        Ok(json::page(
            &memory_core::reminders(&context.services, filter, Some(limit.unwrap_or(USUAL)))?,
            context.services.inbox_ttl,
        ))
    }
}
