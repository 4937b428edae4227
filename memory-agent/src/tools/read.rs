//! The `memory_read` tool.

use memory_core::Effect;

use super::built_in::BuiltInTool;
use super::filter::{IdInput, id_parameters};
use super::input::parse_input;
use crate::json;

/// Returns a memory.
pub(super) const MEMORY_READ: BuiltInTool = BuiltInTool {
    name: "memory_read",
    description: "Read one complete memory.",
    effect: Effect::Reads,
    parameters: id_parameters,
    execute: |context, parameters| {
        let IdInput { id } = parse_input(parameters)?;
        let stored = memory_core::read(&context.services, &id)?;
        context.recalled.add(None, [&stored]);
        Ok(json::memory(&stored, context.services.inbox_ttl))
    },
};
