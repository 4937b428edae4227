//! The `memory_write` tool.

use memory_core::{Category, Draft, Effect, Scope, SecretPolicy};
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::filter::{category_schema, object_schema};
use super::input::{invalid, parse_field, parse_input, parse_start};
use crate::json;

/// Stores a memory.
pub(super) const MEMORY_WRITE: BuiltInTool = BuiltInTool {
    name: "memory_write",
    description: "Store a fact, decision, preference or lesson for later sessions. One thing per memory, in full sentences. \
 The same text is stored once; new tags are added to it.",
    effect: Effect::Adds,
    parameters: || {
        let properties = json!({
            "content": { "type": "string", "minLength": 1, "description": "Markdown; [[links]] allowed" },
            "title": { "type": "string" },
            "category": category_schema(),
            "tags": { "type": "array", "items": { "type": "string" } },
            "scope": { "type": "string", "default": "global", "description": "who sees it: global, agent:NAME or project:NAME" },
            "source": { "type": "string", "description": "source program" },
            "expires": { "type": "string", "description": "YYYY-MM-DD or RFC 3339" },
            "pinned": { "type": "boolean", "description": "never expires by age" }
        });
        object_schema(&properties, &["content"])
    },
    execute: |context, parameters| {
        let input: WriteInput = parse_input(parameters)?;
        let expires = input.expires.as_deref();
        let expires_at = expires.map(|text| parse_start("expires", text, *context.now.offset())).transpose()?;
        if expires_at.is_some_and(|end| end <= context.now) {
            return Err(invalid("expires: the time is in the past".into()));
        }
        let draft = Draft {
            title: input.title,
            category: parse_field("category", input.category.as_deref())?,
            tags: input.tags.iter().collect(),
            scope: parse_field("scope", input.scope.as_deref())?.unwrap_or(Scope::Global),
            source: input.source.unwrap_or_else(|| context.speaker.clone()),
            expires_at,
            pinned: input.pinned,
            ..Draft::new(&input.content)
        };
        if draft.category == Some(Category::Reminders) {
            let written = memory_core::write_reminder(&context.services, draft, &context.zone, SecretPolicy::Refuse)?;
            return Ok(json::reminder_or_memory(&written, "memory_remind with `of` and `at` turns it into a reminder"));
        }
        Ok(json::write_result(&memory_core::write(&context.services, draft, SecretPolicy::Refuse)?))
    },
};

#[derive(Debug, Deserialize)]
struct WriteInput {
    content: String,
    title: Option<String>,
    category: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    scope: Option<String>,
    source: Option<String>,
    expires: Option<String>,
    #[serde(default)]
    pinned: bool,
}
