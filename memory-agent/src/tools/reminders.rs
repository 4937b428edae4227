//! The tools for reminders.

use memory_core::{
    AnswerDetail, Draft, Effect, MemoryStoreExt, RemindReport, ReminderFilter, SecretPolicy,
    ToolContext, parse_due_time,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::brief::{AnswerBudget, BriefList, brief_reminder, changed_memory};
use super::built_in::BuiltInTool;
use super::cursor::parse_cursor;
use super::filter::{MAX_RESULTS, parse_scope};
use super::input::{invalid, local_now};
use crate::json;

/// Stores a text as a reminder, or turns a memory into one.
pub(super) const MEMORY_REMIND: BuiltInTool<RemindInput> = BuiltInTool {
    name: "memory_remind",
    description: "Create a reminder from `content` that names a time, or from the memory `id`; of a reminder, change the time. Returns \
 when it is due.",
    effect: Effect::Adds,
    execute: |context, input| {
        let now = local_now(context);
        let at = input
            .at
            .as_deref()
            .map(|at| parse_due_time(at, &now))
            .transpose()?;
        let is_moved = input.id.as_ref().is_some_and(|id| is_reminder(context, id));
        let reminded = match (input.content, input.id) {
            (Some(content), None) => {
                let draft = Draft {
                    tags: input.tags.iter().collect(),
                    scope: parse_scope(context, input.scope.as_deref())?
                        .unwrap_or_else(|| context.write_scope.clone()),
                    source: context.speaker.clone(),
                    ..Draft::new(&content)
                };
                memory_core::remind(
                    &context.services,
                    draft,
                    at,
                    &context.zone,
                    SecretPolicy::Refuse,
                )?
            }
            (None, Some(_)) if input.scope.is_some() || !input.tags.is_empty() => {
                return Err(invalid(
                    "scope and tags come from the memory `id`; omit them".into(),
                ));
            }
            (None, Some(id)) => match (is_reminder(context, &id), at) {
                (true, Some(at)) => {
                    let assumed = at.assumed.clone();
                    RemindReport {
                        assumed,
                        ..RemindReport::changed(memory_core::snooze(&context.services, &id, at)?)
                    }
                }
                (true, None) => return Err(invalid("at: set the new time of the reminder".into())),
                (false, at) => {
                    memory_core::remind_of_memory(&context.services, &id, at, &context.zone)?
                }
            },
            _ => return Err(invalid(
                "set either content, or id and at; memory_update changes the text of a reminder"
                    .into(),
            )),
        };
        Ok(match context.detail {
            AnswerDetail::Full => json::reminder(&reminded),
            AnswerDetail::Brief => {
                let mut answer = brief_reminder(context, &reminded);
                let named = parse_due_time(&reminded.stored.memory.content, &now).ok();
                let due = reminded.stored.memory.reminder.as_ref().map(|own| own.due);
                if is_moved && named.is_some_and(|named| Some(named.at) != due) {
                    answer["next"] =
                        "the text may name the former time; memory_update corrects it".into();
                }
                answer
            }
        })
    },
};

/// Returns whether the memory is a reminder, of which a new time replaces the present one.
fn is_reminder(context: &ToolContext, id: &str) -> bool {
    context
        .services
        .store
        .get_by(id)
        .is_ok_and(|stored| stored.memory.reminder.is_some())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemindInput {
    /// call Anna tomorrow at 3pm
    content: Option<String>,
    /// time, if content names none
    at: Option<String>,
    id: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    scope: Option<String>,
}

/// Lists reminders.
pub(super) const MEMORY_REMINDERS: BuiltInTool<RemindersInput> = BuiltInTool {
    name: "memory_reminders",
    description: "List reminders, earliest first.",
    effect: Effect::Reads,
    execute: |context, input| {
        let RemindersInput {
            which,
            limit,
            cursor,
        } = input;
        let filter = match which {
            ReminderSelection::Open => ReminderFilter::Open,
            ReminderSelection::Due => ReminderFilter::Due,
            ReminderSelection::All => ReminderFilter::All,
        };
        let offset = parse_cursor(cursor.as_deref())?;
        let end = offset.saturating_add(limit.unwrap_or(DEFAULT_LIMIT).min(MAX_RESULTS));
        let mut page = memory_core::reminders(&context.services, filter, Some(end))?;
        page.memories.drain(..offset.min(page.memories.len()));
        if context.detail == AnswerDetail::Full {
            context.recalled.add(None, &page.memories);
            return Ok(json::page(&page, context.services.inbox_ttl));
        }
        let items = BriefList::first_passages(&page.memories);
        let degraded = page.degraded.as_deref();
        let list = BriefList {
            key: "memories",
            tool: "memory_reminders",
            query: None,
            items,
            is_by_creation: false,
            offset,
            total: page.total,
            degraded,
        };
        Ok(list.to_json(context, AnswerBudget::new(None)))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemindersInput {
    #[serde(default)]
    #[schemars(extend("default" = "open"))]
    which: ReminderSelection,
    #[schemars(range(min = 1), extend("default" = DEFAULT_LIMIT))]
    limit: Option<usize>,
    cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
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
pub(super) const MEMORY_DONE: BuiltInTool<DoneInput> = BuiltInTool {
    name: "memory_done",
    description: "Mark a reminder as done.",
    effect: Effect::Changes,
    execute: |context, DoneInput { id, series }| {
        let stored = if series {
            memory_core::end_series(&context.services, &id)?
        } else {
            memory_core::done(&context.services, &id, &context.zone)?
        };
        context.recalled.add(None, [&stored]);
        if context.detail == AnswerDetail::Full {
            return Ok(json::memory(&stored, context.services.inbox_ttl));
        }
        let mut fields = changed_memory(context, &stored);
        fields.insert("done".into(), true.into());
        let reminder = stored.memory.reminder.as_ref();
        if reminder.is_some_and(memory_core::Reminder::is_open) {
            let next = "due again at `due`; memory_done with `series` true ends the recurrence";
            fields.insert("next".into(), next.into());
        }
        Ok(fields.into())
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoneInput {
    id: String,
    /// end a recurring reminder
    #[serde(default)]
    series: bool,
}
