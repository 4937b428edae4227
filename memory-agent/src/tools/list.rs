//! The `memory_list` tool.

use memory_core::text::token_count;
use memory_core::{AnswerDetail, Effect, InboxTtl, ListOrder, PageRequest, StoredMemory};
use serde::Deserialize;
use serde_json::json;

use super::brief::{AnswerBudget, BriefList, parse_cursor};
use super::built_in::BuiltInTool;
use super::filter::{FilterInput, MAX_RESULTS, budget_schema, cursor_schema, limit_schema, schema_with_filter};
use super::input::parse_input;
use crate::json;

/// Lists memories, newest first.
pub(super) const MEMORY_LIST: BuiltInTool = BuiltInTool {
    name: "memory_list",
    description: "Browse memories, newest first, such as those of a category, tag or day. For a question use memory_search. Returns \
 the start of each.",
    effect: Effect::Reads,
    parameters: || {
        let own = json!({ "limit": limit_schema(DEFAULT_LIMIT), "budget": budget_schema(), "cursor": cursor_schema() });
        schema_with_filter(own, &[])
    },
    execute: |context, parameters| {
        let ListInput { limit, budget, cursor } = parse_input(parameters)?;
        let filter = parse_input::<FilterInput>(parameters)?.to_filter(context)?;
        let offset = parse_cursor(cursor.as_deref())?;
        let slice =
            PageRequest { order: ListOrder::Created, offset, limit: Some(limit.unwrap_or(DEFAULT_LIMIT).min(MAX_RESULTS)) };
        let mut page = memory_core::list(&context.services, &filter, &slice)?;
        match context.detail {
            AnswerDetail::Full => {
                if let Some(budget) = budget {
                    fit_memories(&mut page.memories, budget, context.services.inbox_ttl);
                }
                context.recalled.add(None, &page.memories);
                Ok(json::page(&page, context.services.inbox_ttl))
            }
            AnswerDetail::Brief => {
                let items = BriefList::first_passages(&page.memories);
                let degraded = page.degraded.as_deref();
                let list =
                    BriefList { key: "memories", tool: "memory_list", query: None, items, offset, total: page.total, degraded };
                Ok(list.to_json(context, AnswerBudget::new(budget)))
            }
        }
    },
};

#[derive(Debug, Deserialize)]
struct ListInput {
    limit: Option<usize>,
    budget: Option<usize>,
    cursor: Option<String>,
}

/// Drops the last memories whose full JSON exceeds `budget` tokens; the first one stays.
fn fit_memories(memories: &mut Vec<StoredMemory>, budget: usize, inbox_ttl: InboxTtl) {
    let mut used = 0;
    let is_within = |stored: &StoredMemory| {
        used += token_count(&json::memory(stored, inbox_ttl).to_string());
        used <= budget
    };
    let fits = memories.iter().map(is_within).take_while(|fits| *fits).count();
    memories.truncate(fits.max(1));
}

/// Default number of results.
const DEFAULT_LIMIT: usize = 20;
