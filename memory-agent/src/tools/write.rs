//! The `memory_write` tool.

use memory_core::{AnswerDetail, Category, Draft, Effect, SecretPolicy, WrittenReminder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::brief::{brief_reminder, written_memory};
use super::built_in::BuiltInTool;
use super::filter::parse_scope;
use super::input::{parse_expiry, parse_field};
use crate::json;

/// Stores a memory.
pub(super) const MEMORY_WRITE: BuiltInTool<WriteInput> = BuiltInTool {
    name: "memory_write",
    description: "Store what later sessions need: one fact, decision, preference or lesson, in full sentences. Not for the state of \
 the current task, and never for passwords or keys. Search first; correct what exists with memory_update.",
    effect: Effect::Adds,
    execute: |context, input| {
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

/// The meanings of categories that the names do not show.
const CATEGORIES: &str = "soul: identity, values; character: traits, style; date: schedules; knowledge: technical facts; feedback: \
 suggestions; lessons: gotchas; habits: routines; inbox, the default: unsorted, expires";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteInput {
    content: String,
    title: Option<String>,
    #[schemars(extend("enum" = Category::ALL.map(Category::as_str)), description = CATEGORIES)]
    category: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    /// global, project or agent
    scope: Option<String>,
    source: Option<String>,
    /// date
    expires: Option<String>,
    /// never expires
    #[serde(default)]
    pinned: bool,
}
