//! The `memory_reminders` tool.

use memory_core::{Effect, ReminderFilter, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{limit_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Lists reminders.
#[derive(Debug)]
pub(super) struct RemindersTool;

#[derive(Debug, Deserialize)]
struct RemindersInput {
    #[serde(default)]
    which: ReminderSelection,
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReminderSelection {
    #[default]
    Open,
    Due,
    All,
}

/// Default number of results.
const DEFAULT_LIMIT: usize = 20;

impl Tool for RemindersTool {
    fn name(&self) -> &'static str {
        "memory_reminders"
    }

    fn description(&self) -> &'static str {
        "List reminders, earliest first."
    }

    fn parameters(&self) -> Value {
        let which = json!({ "type": "string", "enum": ["open", "due", "all"], "default": "open" });
        object_schema(&json!({ "which": which, "limit": limit_schema(DEFAULT_LIMIT) }), &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let RemindersInput { which, limit } = parse_input(parameters)?;
        let filter = match which {
            ReminderSelection::Open => ReminderFilter::Open,
            ReminderSelection::Due => ReminderFilter::Due,
            ReminderSelection::All => ReminderFilter::All,
        };
        Ok(json::page(
            &memory_core::reminders(&context.services, filter, Some(limit.unwrap_or(DEFAULT_LIMIT)))?,
            context.services.inbox_ttl,
        ))
    }
}
