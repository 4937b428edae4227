//! The `memory_write` tool.

use memory_core::{AnswerDetail, Category, Draft, Effect, SecretPolicy, WrittenReminder};
use serde::Deserialize;
use serde_json::json;

use super::brief::{brief_reminder, written_memory};
use super::built_in::BuiltInTool;
use super::filter::{category_schema, object_schema, parse_scope, scope_schema};
use super::input::{parse_expiry, parse_field, parse_input};
use crate::json;

/// Stores a memory.
pub(super) const MEMORY_WRITE: BuiltInTool = BuiltInTool {
    name: "memory_write",
    description: "Store what later sessions need: one fact, decision, preference or lesson, in full sentences. Not for the state of \
 the current task, and never for passwords or keys. Search first; correct what exists with memory_update.",
    effect: Effect::Adds,
    parameters: || {
        let properties = json!({
            "content": { "type": "string" },
            "title": { "type": "string" },
            "category": category_schema(),
            "tags": { "type": "array", "items": { "type": "string" } },
            "scope": scope_schema(),
            "source": { "type": "string" },
            "expires": { "type": "string", "description": "date" },
            "pinned": { "type": "boolean", "description": "never expires" }
        });
        object_schema(&properties, &["content"])
    },
    execute: |context, parameters| {
        let input: WriteInput = parse_input(parameters)?;
        let never = input
            .expires
            .as_deref()
            .is_some_and(|text| text.trim().eq_ignore_ascii_case("never"));
        let expires = input.expires.as_deref().filter(|_| !never);
        let expires_at = expires
            .map(|text| parse_expiry(context, text))
            .transpose()?;
        let draft = Draft {
            title: input.title,
            category: parse_field("category", input.category.as_deref())?,
            tags: input.tags.iter().collect(),
            scope: parse_scope(context, input.scope.as_deref())?
                .unwrap_or_else(|| context.write_scope.clone()),
            source: input.source.unwrap_or_else(|| context.speaker.clone()),
            expires_at,
            pinned: input.pinned || never,
            ..Draft::new(&input.content)
        };
        if draft.category == Some(Category::Reminders) {
            let written = memory_core::write_reminder(
                &context.services,
                draft,
                &context.zone,
                SecretPolicy::Refuse,
            )?;
            return Ok(match (context.detail, &written) {
                (AnswerDetail::Full, written) => json::reminder_or_memory(written, REMIND_HINT),
                (AnswerDetail::Brief, WrittenReminder::Reminder(report)) => {
                    brief_reminder(context, report)
                }
                (AnswerDetail::Brief, WrittenReminder::Memory { written, warning }) => {
                    let mut fields = written_memory(context, written);
                    fields.insert("warning".into(), format!("{warning}; {REMIND_HINT}").into());
                    fields.into()
                }
            });
        }
        let written = memory_core::write(&context.services, draft, SecretPolicy::Refuse)?;
        Ok(match context.detail {
            AnswerDetail::Full => json::write_result(&written),
            AnswerDetail::Brief => written_memory(context, &written).into(),
        })
    },
};

/// Advice about a text without a time.
const REMIND_HINT: &str = "memory_remind with `id` and `at` turns it into a reminder";

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
