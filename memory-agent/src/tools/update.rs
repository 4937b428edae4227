//! The `memory_update` tool.

use memory_core::text::to_one_line;
use memory_core::{AnswerDetail, Code, Effect, Revision, SecretPolicy, ToolError};
use serde::Deserialize;
use serde_json::json;

use super::brief::{MAX_WORDS, changed_memory};
use super::built_in::BuiltInTool;
use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Replaces a passage of a memory.
pub(super) const MEMORY_UPDATE: BuiltInTool = BuiltInTool {
    name: "memory_update",
    description: "Correct a memory: replace `old`, exact text that occurs in it once, by `new`. For a new fact use memory_write.",
    effect: Effect::Changes,
    parameters: || {
        let properties = json!({
            "id": id_schema(),
            "old": { "type": "string" },
            "new": { "type": "string" },
            "version": { "type": "integer", "description": "as read, to detect other changes" }
        });
        object_schema(&properties, &["id", "old", "new"])
    },
    execute: |context, parameters| {
        let UpdateInput { id, old, new, version } = parse_input(parameters)?;
        let passage = to_one_line(&new, MAX_WORDS);
        let revision = Revision { old, new, version };
        let revised = memory_core::revise(&context.services, &id, &revision, SecretPolicy::Refuse);
        let stored = revised.map_err(|error| match ToolError::from(error) {
            error if error.code == Code::InvalidInput && error.hint.is_none() => {
                error.with_hint("`old` is exact text that occurs once in the memory; read the memory to see it")
            }
            error => error,
        })?;
        context.recalled.add(None, [&stored]);
        Ok(match context.detail {
            AnswerDetail::Full => json::memory(&stored, context.services.inbox_ttl),
            AnswerDetail::Brief => {
                let mut fields = changed_memory(context, &stored);
                if !passage.is_empty() {
                    fields.insert("text".into(), passage.into());
                }
                fields.into()
            }
        })
    },
};

#[derive(Debug, Deserialize)]
struct UpdateInput {
    id: String,
    old: String,
    new: String,
    version: Option<u64>,
}
