//! The `memory_update` tool.

use memory_core::{Effect, Revision, SecretPolicy};
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::filter::{id_schema, object_schema};
use super::input::parse_input;
use crate::json;

/// Replaces a passage of a memory.
pub(super) const MEMORY_UPDATE: BuiltInTool = BuiltInTool {
    name: "memory_update",
    description: "Correct a memory: replace `old`, which must occur in it exactly once, by `new`.",
    effect: Effect::Changes,
    parameters: || {
        let properties = json!({
            "id": id_schema(),
            "old": { "type": "string", "minLength": 1 },
            "new": { "type": "string" },
            "version": { "type": "integer", "minimum": 0, "description": "version as read; a conflict if it has changed since" }
        });
        object_schema(&properties, &["id", "old", "new"])
    },
    execute: |context, parameters| {
        let UpdateInput { id, old, new, version } = parse_input(parameters)?;
        let revision = Revision { old, new, version };
        Ok(json::memory(
            &memory_core::revise(&context.services, &id, &revision, SecretPolicy::Refuse)?,
            context.services.inbox_ttl,
        ))
    },
};

#[derive(Debug, Deserialize)]
struct UpdateInput {
    id: String,
    old: String,
    new: String,
    version: Option<u64>,
}
