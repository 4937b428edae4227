//! The `memory_undo` tool.

use memory_core::{AnswerDetail, Code, Effect, Subject, ToolError};
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::filter::object_schema;
use super::input::parse_input;
use crate::json;

/// Reverts an operation of this agent.
pub(super) const MEMORY_UNDO: BuiltInTool = BuiltInTool {
    name: "memory_undo",
    description: "Undo your last operation on the memories, or the given one.",
    effect: Effect::Changes,
    parameters: || object_schema(&json!({ "operation": { "type": "string", "minLength": 4 } }), &[]),
    execute: |context, parameters| {
        let UndoInput { operation } = parse_input(parameters)?;
        let undone = memory_core::undo(&context.services, operation.as_deref()).map_err(|error| {
            let mut error = ToolError::from(error);
            if error.code == Code::OperationNotFound {
                error.hint = operation.as_ref().map(|_| "omit operation to undo the last change".to_owned());
            }
            error
        })?;
        if context.detail == AnswerDetail::Full {
            return Ok(json::undo_result(&undone.map(Subject::Notes)));
        }
        let result = json::undo_result(&undone.map(Subject::Notes));
        let mut brief =
            json!({ "operation": result["operation"], "undone": result["undone"]["verb"], "files": result["undone"]["files"] });
        if let Some(left) = result["left"].as_array() {
            brief["unchanged"] = left.len().into();
        }
        Ok(brief)
    },
};

#[derive(Debug, Deserialize)]
struct UndoInput {
    operation: Option<String>,
}
