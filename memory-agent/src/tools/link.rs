//! The tools for links between memories.

use memory_core::Effect;
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::filter::{IdInput, id_parameters, id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Links two memories.
pub(super) const MEMORY_LINK: BuiltInTool = BuiltInTool {
    name: "memory_link",
    description: "Link two memories in both directions.",
    effect: Effect::Changes,
    parameters: || object_schema(&json!({ "source": id_schema(), "target": id_schema() }), &["source", "target"]),
    execute: |context, parameters| {
        let LinkInput { source, target } = parse_input(parameters)?;
        let (first, second) = memory_core::link(&context.services, &source, &target)?;
        Ok(json::memories([&first, &second], context.services.inbox_ttl))
    },
};

#[derive(Debug, Deserialize)]
struct LinkInput {
    source: String,
    target: String,
}

/// Lists the memories that link to a memory.
pub(super) const MEMORY_BACKLINKS: BuiltInTool = BuiltInTool {
    name: "memory_backlinks",
    description: "List the memories that link to a memory, by a link or a [[wikilink]].",
    effect: Effect::Reads,
    parameters: id_parameters,
    execute: |context, parameters| {
        let IdInput { id } = parse_input(parameters)?;
        let memories = memory_core::backlinks(&context.services, &id)?;
        context.recalled.add(None, &memories);
        Ok(json::memories(&memories, context.services.inbox_ttl))
    },
};
