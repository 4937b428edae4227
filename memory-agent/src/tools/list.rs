//! The `memory_list` tool.

use memory_core::{Effect, ListOrder, PageRequest};
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::filter::{FilterInput, limit_schema, schema_with_filter};
use super::input::parse_input;
use crate::json;

/// Lists memories, newest first.
pub(super) const MEMORY_LIST: BuiltInTool = BuiltInTool {
    name: "memory_list",
    description: "List memories, newest first.",
    effect: Effect::Reads,
    parameters: || {
        let own = json!({ "limit": limit_schema(DEFAULT_LIMIT), "offset": { "type": "integer", "minimum": 0 } });
        schema_with_filter(own, &[])
    },
    execute: |context, parameters| {
        let ListInput { limit, offset } = parse_input(parameters)?;
        let filter = parse_input::<FilterInput>(parameters)?.to_filter(context)?;
        let slice = PageRequest { order: ListOrder::Created, offset, limit: Some(limit.unwrap_or(DEFAULT_LIMIT)) };
        let page = memory_core::list(&context.services, &filter, &slice)?;
        context.recalled.add(None, &page.memories);
        Ok(json::page(&page, context.services.inbox_ttl))
    },
};

#[derive(Debug, Deserialize)]
struct ListInput {
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

/// Default number of results.
const DEFAULT_LIMIT: usize = 20;
