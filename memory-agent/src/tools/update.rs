//! The `memory_update` tool.

use memory_core::text::to_one_line;
use memory_core::{
    AnswerDetail, Code, Effect, MemoryStoreExt, PassageSelector, Patch, Reminder, Revision,
    SecretPolicy, StoredMemory, Tags, ToolContext, ToolError, parse_due_time,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::brief::{MAX_WORDS, changed_memory};
use super::built_in::BuiltInTool;
use super::filter::parse_scope;
use super::input::{find_all, invalid, local_now, parse_expiry, parse_field};
use super::write::{add_similar, add_superseded};
use crate::json;

/// Replaces a passage or fields of a memory.
pub(super) const MEMORY_UPDATE: BuiltInTool<UpdateInput> = BuiltInTool {
    name: "memory_update",
    description: "Correct a memory: replace `old`, exact text that occurs in it once, by `new`, or set other fields. For a new fact use \
 memory_write.",
    effect: Effect::Changes,
    execute: |context, input| {
        let before = context.services.store.get_by(&input.id)?;
        let change = RequestedChange::of(context, &input, &before.memory.tags)?;
        let superseded = change.patch.supersedes.clone();
        let stored = change.apply(context, &before, input.version)?;
        context.recalled.add(None, [&stored]);
        Ok(match context.detail {
            AnswerDetail::Full => json::memory(&stored, context.services.inbox_ttl),
            AnswerDetail::Brief => {
                let mut fields = brief_answer(context, &input, &before, &stored);
                add_superseded(context, stored.memory.id, &superseded, &mut fields);
                if stored.memory.content != before.memory.content {
                    let similar = context.services.neighbours_of_stored(&stored.memory);
                    add_similar(context, stored.memory.id, &similar, &mut fields);
                }
                fields.into()
            }
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateInput {
    id: String,
    old: Option<String>,
    new: Option<String>,
    content: Option<String>,
    category: Option<String>,
    scope: Option<String>,
    pinned: Option<bool>,
    title: Option<String>,
    /// all tags
    tags: Option<Vec<String>>,
    /// ids of memories that are no longer true
    #[serde(default)]
    supersedes: Vec<String>,
    /// or never
    expires: Option<String>,
    /// as read, to detect other changes
    #[schemars(with = "Option<i64>")]
    version: Option<u64>,
}

/// The parts of a memory to change: a passage, then fields.
struct RequestedChange {
    passage: Option<(String, String)>,
    patch: Patch,
}

impl RequestedChange {
    /// Returns the change of a memory with `tags`.
    fn of(context: &ToolContext, input: &UpdateInput, tags: &Tags) -> Result<Self, ToolError> {
        let passage = match (&input.old, &input.new) {
            (Some(old), Some(new)) => Some((old.clone(), new.clone())),
            (None, None) => None,
            _ => {
                return Err(invalid(
                    "old, new: set both, or set `content` to replace the whole text".into(),
                ));
            }
        };
        if passage.is_some() && input.content.is_some() {
            return Err(invalid(
                "content: set either `content` or `old` and `new`".into(),
            ));
        }
        let expires_at = match input.expires.as_deref().map(str::trim) {
            None => None,
            Some(never) if never.eq_ignore_ascii_case("never") => Some(None),
            Some(text) => Some(Some(parse_expiry(context, text)?)),
        };
        let new_tags: Option<Tags> = input.tags.as_ref().map(|tags| tags.iter().collect());
        let is_dropped = |tag: &&String| new_tags.as_ref().is_some_and(|new| !new.contains(tag));
        let patch = Patch {
            remove_tags: tags.iter().filter(is_dropped).collect(),
            add_tags: new_tags.clone().unwrap_or_default(),
            supersedes: find_all(context, &input.supersedes)?,
            content: input.content.clone(),
            title: input.title.clone().map(Some),
            category: parse_field("category", input.category.as_deref())?,
            scope: parse_scope(context, input.scope.as_deref())?,
            pinned: input.pinned,
            expires_at,
            ..Patch::default()
        };
        if passage.is_none() && patch == Patch::default() {
            return Err(invalid(
                "nothing to change: set `old` and `new`, `content` or another field".into(),
            ));
        }
        Ok(Self { passage, patch })
    }

    /// Applies all changes in one operation.
    fn apply(
        self,
        context: &ToolContext,
        before: &StoredMemory,
        version: Option<u64>,
    ) -> Result<StoredMemory, ToolError> {
        let id = before.memory.id.to_string();
        let Self { passage, patch } = self;
        let Some((old, new)) = passage else {
            if version.is_some_and(|version| version != before.memory.version) {
                return Err(memory_core::StoreError::Conflict {
                    what: before.path.clone(),
                }
                .into());
            }
            let expected = (version.is_some() || patch.content.is_some()).then_some(before.stamp);
            return Ok(memory_core::update(
                &context.services,
                &id,
                &patch,
                expected,
                SecretPolicy::Refuse,
            )?);
        };
        let revision = Revision { old, new, version };
        let done = memory_core::revise(
            &context.services,
            &id,
            &revision,
            &patch,
            SecretPolicy::Refuse,
        );
        done.map_err(|error| match ToolError::from(error) {
            error if error.code == Code::InvalidInput && error.hint.is_none() => error.with_hint(
                "`old` is exact text that occurs once in the memory; read the memory to see it",
            ),
            error => error,
        })
    }
}

/// Returns the fields of the new version, the passage that changed, and its previous words.
fn brief_answer(
    context: &ToolContext,
    input: &UpdateInput,
    before: &StoredMemory,
    stored: &StoredMemory,
) -> Map<String, Value> {
    let mut fields = changed_memory(context, stored);
    let text = stored.memory.content.as_str();
    if let Some(new) = input.new.as_deref().filter(|new| !new.trim().is_empty()) {
        fields.insert(
            "text".into(),
            to_one_line(&PassageSelector::new(new).select(text).text, MAX_WORDS * 2).into(),
        );
    }
    if text != before.memory.content {
        let was = input.old.as_deref().unwrap_or(&before.memory.content);
        fields.insert("was".into(), to_one_line(was, MAX_WORDS).into());
        let names_other_time = |reminder: &Reminder| {
            let named = parse_due_time(text, &local_now(context));
            reminder.is_open() && named.is_ok_and(|named| named.at != reminder.due)
        };
        if stored
            .memory
            .reminder
            .as_ref()
            .is_some_and(names_other_time)
        {
            fields.insert(
                "next".into(),
                "the due time is unchanged; memory_remind with this id and `at` changes it".into(),
            );
        }
    }
    fields
}
