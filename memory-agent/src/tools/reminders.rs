//! The tools for reminders.

use memory_core::{Draft, Effect, ReminderFilter, Scope, SecretPolicy, parse_due_time};
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::filter::{IdInput, id_parameters, limit_schema, object_schema};
use super::input::{invalid, parse_field, parse_input};
use crate::json;

/// Stores a text as a reminder, or turns a memory into one.
pub(super) const MEMORY_REMIND: BuiltInTool = BuiltInTool {
    name: "memory_remind",
    description: "Create a reminder: from a text that names the time (English or Chinese), or due at `at`; or from the memory `of`.",
    effect: Effect::Adds,
    parameters: || {
        let properties = json!({
            "text": { "type": "string", "minLength": 1, "description": "call Anna tomorrow at 3pm" },
            "at": { "type": "string", "minLength": 1, "description": "words, a day, or RFC 3339" },
            "of": { "type": "string", "minLength": 1, "description": "id of a memory, instead of text" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "scope": { "type": "string", "default": "global" }
        });
        object_schema(&properties, &[])
    },
    execute: |context, parameters| {
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
    },
};

#[derive(Debug, Deserialize)]
struct RemindInput {
    text: Option<String>,
    at: Option<String>,
    of: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    scope: Option<String>,
}

/// Lists reminders.
pub(super) const MEMORY_REMINDERS: BuiltInTool = BuiltInTool {
    name: "memory_reminders",
    description: "List reminders, earliest first.",
    effect: Effect::Reads,
    parameters: || {
        let which = json!({ "type": "string", "enum": ["open", "due", "all"], "default": "open" });
        object_schema(&json!({ "which": which, "limit": limit_schema(DEFAULT_LIMIT) }), &[])
    },
    execute: |context, parameters| {
        let RemindersInput { which, limit } = parse_input(parameters)?;
        let filter = match which {
            ReminderSelection::Open => ReminderFilter::Open,
            ReminderSelection::Due => ReminderFilter::Due,
            ReminderSelection::All => ReminderFilter::All,
        };
        let page = memory_core::reminders(&context.services, filter, Some(limit.unwrap_or(DEFAULT_LIMIT)))?;
        context.recalled.add(None, &page.memories);
        Ok(json::page(&page, context.services.inbox_ttl))
    },
};

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

/// Marks a reminder as done.
pub(super) const MEMORY_DONE: BuiltInTool = BuiltInTool {
    name: "memory_done",
    description: "Mark a reminder as done.",
    effect: Effect::Changes,
    parameters: id_parameters,
    execute: |context, parameters| {
        let IdInput { id } = parse_input(parameters)?;
        Ok(json::memory(&memory_core::done(&context.services, &id)?, context.services.inbox_ttl))
    },
};
