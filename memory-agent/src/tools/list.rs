//! The `memory_list` tool.

use memory_core::text::token_count;
use memory_core::{
    AnswerDetail, Effect, Filter, InboxTtl, ListOrder, MemoryPage, PageRequest, StoredMemory,
    ToolContext, ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::brief::{AnswerBudget, BriefList};
use super::built_in::BuiltInTool;
use super::cursor::ListCursor;
use super::filter::{FilterInput, MAX_RESULTS};
use crate::json;

/// Lists memories, newest first.
pub(super) const MEMORY_LIST: BuiltInTool<ListInput> = BuiltInTool {
    name: "memory_list",
    description: "Browse memories, newest first, such as those of a category, tag or day. For a question use memory_search. Returns \
 the start of each.",
    effect: Effect::Reads,
    execute: |context, input| {
        let ListInput {
            limit,
            budget,
            cursor,
            filter,
        } = input;
        let filter = filter.to_filter(context)?;
        let cursor = ListCursor::parse(cursor.as_deref())?;
        let limit = limit.unwrap_or(DEFAULT_LIMIT).min(MAX_RESULTS);
        let mut page = page_after(context, &cursor, filter, limit)?;
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
                let list = BriefList {
                    key: "memories",
                    tool: "memory_list",
                    query: None,
                    items,
                    is_by_creation: true,
                    offset: cursor.offset,
                    total: page.total,
                    degraded,
                };
                Ok(list.to_json(context, AnswerBudget::new(budget)))
            }
        }
    },
};

/// Returns the memories after the place of the cursor. The total includes those that were shown before.
fn page_after(
    context: &ToolContext,
    cursor: &ListCursor,
    filter: Filter,
    limit: usize,
) -> Result<MemoryPage, ToolError> {
    let (filter, mut offset) = cursor.narrow(filter);
    loop {
        let slice = PageRequest {
            order: ListOrder::Created,
            offset,
            limit: Some(limit),
        };
        let mut page = memory_core::list(&context.services, &filter, &slice)?;
        let count = page.memories.len();
        page.memories
            .retain(|stored| !cursor.is_before(&stored.memory));
        let skipped = count - page.memories.len();
        // Many memories may have one creation time, such as those of an import.
        if page.memories.is_empty() && 0 < count {
            offset += count;
            continue;
        }
        if cursor.is_place() {
            page.total =
                page.total.saturating_sub((offset + skipped) as u64) + cursor.offset as u64;
        }
        return Ok(page);
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ListInput {
    #[schemars(range(min = 1), extend("default" = DEFAULT_LIMIT))]
    limit: Option<usize>,
    /// tokens, 200-8000
    #[schemars(with = "Option<i64>")]
    budget: Option<usize>,
    cursor: Option<String>,
    #[serde(flatten)]
    filter: FilterInput,
}

/// Drops the last memories whose full JSON exceeds `budget` tokens; the first one stays.
fn fit_memories(memories: &mut Vec<StoredMemory>, budget: usize, inbox_ttl: InboxTtl) {
    let mut used = 0;
    let is_within = |stored: &StoredMemory| {
        used += token_count(&json::memory(stored, inbox_ttl).to_string());
        used <= budget
    };
    let fits = memories
        .iter()
        .map(is_within)
        .take_while(|fits| *fits)
        .count();
    memories.truncate(fits.max(1));
}

/// Default number of results.
const DEFAULT_LIMIT: usize = 20;
