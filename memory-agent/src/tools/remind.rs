//! The `memory_remind` tool.

use memory_core::{Draft, Effect, Scope, SecretPolicy, Tool, ToolContext, ToolError, parse_due_time};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::object_schema;
use super::input::{invalid, parse_field, parse_input};
use crate::json;

/// Stores a text as a reminder, or turns a memory into one.
#[derive(Debug)]
pub(super) struct RemindTool;

#[derive(Debug, Deserialize)]
struct RemindInput {
    text: Option<String>,
    at: Option<String>,
    of: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    scope: Option<String>,
}

impl Tool for RemindTool {
    fn name(&self) -> &'static str {
        "memory_remind"
    }

    fn description(&self) -> &'static str {
        "Create a reminder: from a text that names the time (English or Chinese), or due at `at`; or from the memory `of`."
    }

    fn parameters(&self) -> Value {
        let properties = json!({
            "text": { "type": "string", "minLength": 1, "description": "call Anna tomorrow at 3pm" },
            "at": { "type": "string", "minLength": 1, "description": "words, a day, or RFC 3339" },
            "of": { "type": "string", "minLength": 1, "description": "id of a memory, instead of text" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "scope": { "type": "string", "default": "global" }
        });
        object_schema(&properties, &[])
    }

    fn effect(&self) -> Effect {
        Effect::Adds
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let input: RemindInput = parse_input(parameters)?;
        let now = context.now.with_timezone(&context.zone);
        let at = input.at.as_deref().map(|at| parse_due_time(at, &now)).transpose()?;
        let (at, assumed) = at.map_or((None, None), |(at, assumed)| (Some(at), assumed));
        let mut reminded = match (input.text, input.of) {
            (Some(text), None) => {
                let draft = Draft {
                    tags: input.tags.iter().collect(),
                    scope: parse_field("scope", input.scope.as_deref())?.unwrap_or(Scope::Global),
                    source: context.speaker.clone(),
                    ..Draft::new(&text)
                };
                memory_core::remind(&context.services, draft, at, &context.zone, SecretPolicy::Refuse)?
            }
            (None, Some(_)) if input.scope.is_some() || !input.tags.is_empty() => {
                return Err(invalid("scope and tags come from the memory `of`; omit them".into()));
            }
            (None, Some(of)) => memory_core::remind_of_memory(&context.services, &of, at, &context.zone)?,
            _ => return Err(invalid("set either text or of".into())),
        };
        reminded.assumed = reminded.assumed.or(assumed);
        Ok(json::reminder(&reminded))
    }
}
