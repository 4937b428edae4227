//! The tools for links between memories.

use memory_core::{AnswerDetail, Effect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::brief::{AnswerBudget, BriefList, changed_memory};
use super::built_in::BuiltInTool;
use super::cursor::parse_cursor;
use crate::json;

/// Links two memories.
pub(super) const MEMORY_LINK: BuiltInTool<LinkInput> = BuiltInTool {
    name: "memory_link",
    description: "Link two memories in both directions.",
    effect: Effect::Changes,
    execute: |context, LinkInput { id, target }| {
        let (first, second) = memory_core::link(&context.services, &id, &target)?;
        context.recalled.add(None, [&first, &second]);
        Ok(match context.detail {
            AnswerDetail::Full => json::memories([&first, &second], context.services.inbox_ttl),
            AnswerDetail::Brief => {
                json!({ "memories": [changed_memory(context, &first), changed_memory(context, &second)] })
            }
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkInput {
    id: String,
    target: String,
}

/// Lists the memories that link to a memory.
pub(super) const MEMORY_BACKLINKS: BuiltInTool<BacklinksInput> = BuiltInTool {
    name: "memory_backlinks",
    description: "List the memories that link to a memory, by a link or a [[wikilink]].",
    effect: Effect::Reads,
    execute: |context, BacklinksInput { id, budget, cursor }| {
        let offset = parse_cursor(cursor.as_deref())?;
        let linking = memory_core::backlinks(&context.services, &id)?;
        if context.detail == AnswerDetail::Full {
            context.recalled.add(None, &linking);
            return Ok(json::memories(&linking, context.services.inbox_ttl));
        }
        let items = BriefList::first_passages(&linking[offset.min(linking.len())..]);
        let total = linking.len() as u64;
        let list = BriefList {
            key: "memories",
            tool: "memory_backlinks",
            query: None,
            items,
            is_by_creation: false,
            offset,
            total,
            degraded: None,
        };
        Ok(list.to_json(context, AnswerBudget::new(budget)))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BacklinksInput {
    id: String,
    /// tokens, 200-8000
    #[schemars(with = "Option<i64>")]
    budget: Option<usize>,
    cursor: Option<String>,
}
