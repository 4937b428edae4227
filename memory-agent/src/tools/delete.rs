//! The `memory_delete` tool.

use memory_core::{AnswerDetail, Effect};

use super::brief::changed_memory;
use super::built_in::BuiltInTool;
use super::filter::IdInput;
use crate::json;

/// Moves a memory to the trash.
pub(super) const MEMORY_DELETE: BuiltInTool<IdInput> = BuiltInTool {
    name: "memory_delete",
    description: "Move an unwanted memory to the trash. To correct a memory use memory_update.",
    effect: Effect::Changes,
    execute: |context, IdInput { id }| {
        let deleted = memory_core::delete(&context.services, &id)?;
        if context.detail == AnswerDetail::Full {
            return Ok(json::delete_result(&deleted));
        }
        let mut fields = changed_memory(context, &deleted);
        fields.insert("deleted".into(), true.into());
        fields.insert("next".into(), "memory_undo with this id restores it".into());
        Ok(fields.into())
    },
};
