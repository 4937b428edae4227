//! The `memory_write` tool.

use memory_core::text::to_one_line;
use memory_core::{
    AnswerDetail, Category, Draft, Effect, MemoryId, Neighbour, NeighbourRelation, SecretPolicy,
    ToolContext, WrittenReminder,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::brief::{MAX_WORDS, brief_reminder, short_id, written_memory};
use super::built_in::BuiltInTool;
use super::filter::parse_scope;
use super::input::{find_all, parse_expiry, parse_field};

/// Stores a memory.
pub(super) const MEMORY_WRITE: BuiltInTool<WriteInput> = BuiltInTool {
    name: "memory_write",
    description: "Store what later sessions need: one fact, decision, preference or lesson, in full sentences, or one \
 rule of the user as a request (\"Always answer in metric units\"). Not for the state of \
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
            supersedes: find_all(context, &input.supersedes)?,
            ..Draft::new(&input.content)
        };
        let superseded = draft.supersedes.clone();
        if draft.category == Some(Category::Reminders) {
            let written = memory_core::write_reminder(
                &context.services,
                draft,
                &context.zone,
                SecretPolicy::Refuse,
            )?;
            return Ok(match (context.detail, &written) {
                (AnswerDetail::Full, written) => {
                    crate::json::reminder_or_memory(written, REMIND_HINT)
                }
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
        let similar = context.services.neighbours_of_written(&written);
        Ok(match context.detail {
            AnswerDetail::Full => crate::json::write_result(&written, &similar),
            AnswerDetail::Brief => {
                let mut fields = written_memory(context, &written);
                add_superseded(context, written.id, &superseded, &mut fields);
                add_similar(context, written.id, &similar, &mut fields);
                fields.into()
            }
        })
    },
};

/// Adds the ids of the memories that `new` superseded to a brief result.
pub(super) fn add_superseded(
    context: &ToolContext,
    new: MemoryId,
    superseded: &[MemoryId],
    fields: &mut Map<String, Value>,
) {
    // A proposed change supersedes nothing yet.
    let is_done = |id: &&MemoryId| {
        let stored = context.services.store.get(id);
        stored.is_ok_and(|stored| stored.memory.superseded_by == Some(new))
    };
    let done = superseded.iter().filter(is_done);
    let ids: Vec<String> = done.map(|id| short_id(context, id)).collect();
    if !ids.is_empty() {
        fields.insert("superseded".into(), ids.into());
    }
}

/// Adds similar memories to a brief result, and the call that replaces the old ones.
pub(super) fn add_similar(
    context: &ToolContext,
    new: MemoryId,
    similar: &[Neighbour],
    fields: &mut Map<String, Value>,
) {
    if similar.is_empty() {
        return;
    }
    let shown = similar.iter().map(|own| {
        let (id, text) = (
            short_id(context, &own.id),
            to_one_line(&own.text, MAX_WORDS),
        );
        json!({ "id": id, "relation": own.relation.as_str(), "text": text })
    });
    let shown: Value = shown.collect();
    fields.insert("similar".into(), shown);
    // A proposal cannot be changed before it is accepted.
    if context.services.proposals.contains(&new) {
        return;
    }
    let replaceable = similar
        .iter()
        .filter(|own| own.relation < NeighbourRelation::Related)
        .map(|own| short_id(context, &own.id));
    let old: Vec<String> = replaceable.collect();
    let (replaced, ids) = if old.is_empty() {
        ("one of these, with its id as ID", vec!["ID".to_owned()])
    } else {
        ("it", old)
    };
    let call = json!({ "id": short_id(context, &new), "supersedes": ids });
    let next = format!("if the new memory replaces {replaced}: memory_update {call}");
    fields.insert("next".into(), next.into());
}

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
    /// global (default), project (only there) or agent
    scope: Option<String>,
    source: Option<String>,
    /// date
    expires: Option<String>,
    /// never expires
    #[serde(default)]
    pinned: bool,
    /// ids of memories that are no longer true
    #[serde(default)]
    supersedes: Vec<String>,
}
