//! The tools for links between memories.

use memory_core::{AnswerDetail, Effect};
use serde::Deserialize;
use serde_json::json;

use super::brief::{AnswerBudget, BriefList, changed_memory};
use super::built_in::BuiltInTool;
use super::cursor::parse_cursor;
use super::filter::{budget_schema, cursor_schema, id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Links two memories.
pub(super) const MEMORY_LINK: BuiltInTool = BuiltInTool {
    name: "memory_link",
    description: "Link two memories in both directions.",
    effect: Effect::Changes,
    parameters: || {
        object_schema(
            &json!({ "id": id_schema(), "target": id_schema() }),
            &["id", "target"],
        )
    },
    execute: |context, parameters| {
        let LinkInput { id, target } = parse_input(parameters)?;
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

#[derive(Debug, Deserialize)]
struct LinkInput {
    id: String,
    target: String,
}

/// Lists the memories that link to a memory.
pub(super) const MEMORY_BACKLINKS: BuiltInTool = BuiltInTool {
    name: "memory_backlinks",
    description: "List the memories that link to a memory, by a link or a [[wikilink]].",
    effect: Effect::Reads,
    parameters: || {
        object_schema(
            &json!({ "id": id_schema(), "budget": budget_schema(), "cursor": cursor_schema() }),
            &["id"],
        )
    },
    execute: |context, parameters| {
        let BacklinksInput { id, budget, cursor } = parse_input(parameters)?;
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

#[derive(Debug, Deserialize)]
struct BacklinksInput {
    id: String,
    budget: Option<usize>,
    cursor: Option<String>,
}
