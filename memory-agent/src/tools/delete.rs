//! The `memory_delete` tool.

use memory_core::Effect;

use super::built_in::BuiltInTool;
use super::filter::{IdInput, id_parameters};
use super::input::parse_input;
use crate::json;

/// Moves a memory to the trash.
pub(super) const MEMORY_DELETE: BuiltInTool = BuiltInTool {
    name: "memory_delete",
    description: "Move a memory that is wrong or no longer wanted to the trash; it can be restored.",
    effect: Effect::Changes,
    parameters: id_parameters,
    execute: |context, parameters| {
        let IdInput { id } = parse_input(parameters)?;
        Ok(json::delete_result(&memory_core::delete(&context.services, &id)?))
    },
};
