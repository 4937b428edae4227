//! The `memory_tag` tool.

use memory_core::text::to_one_line;
use memory_core::{AnswerDetail, Effect};
use schemars::JsonSchema;
use serde::Deserialize;

use super::brief::{MAX_WORDS, changed_memory};
use super::built_in::BuiltInTool;
use super::input::invalid;
use crate::json;

/// Adds tags to a memory and removes others.
pub(super) const MEMORY_TAG: BuiltInTool<TagInput> = BuiltInTool {
    name: "memory_tag",
    description: "Add or remove tags of a memory. Returns all its tags.",
    effect: Effect::Changes,
    execute: |context, TagInput { id, add, remove }| {
        if add.is_empty() && remove.is_empty() {
            return Err(invalid("add, remove: set at least one tag".into()));
        }
        let stored = memory_core::tag(
            &context.services,
            &id,
            add.iter().collect(),
            remove.iter().collect(),
        )?;
        context.recalled.add(None, [&stored]);
        if context.detail == AnswerDetail::Full {
            return Ok(json::memory(&stored, context.services.inbox_ttl));
        }
        let mut fields = changed_memory(context, &stored);
        let tags = stored.memory.tags.as_slice();
        let shown: Vec<String> = tags
            .iter()
            .take(MAX_TAGS)
            .map(|tag| to_one_line(tag, MAX_WORDS))
            .collect();
        fields.insert("tags".into(), shown.into());
        if MAX_TAGS < tags.len() {
            fields.insert("further_tags".into(), (tags.len() - MAX_TAGS).into());
        }
        Ok(fields.into())
    },
};

/// Maximum number of tags in a brief result.
const MAX_TAGS: usize = 30;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TagInput {
    id: String,
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    remove: Vec<String>,
}
