//! The `memory_undo` tool.

use memory_core::{AnswerDetail, Code, Effect, Subject, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::brief::changed_memory;
use super::built_in::BuiltInTool;
use super::filter::object_schema;
use super::input::parse_input;
use crate::json;

/// Maximum number of memories that the brief result shows.
const MAX_SHOWN: usize = 5;

/// Reverts an operation of this agent.
pub(super) const MEMORY_UNDO: BuiltInTool = BuiltInTool {
    name: "memory_undo",
    description: "Undo your last change, such as a deletion.",
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
        let changes = context.services.history.changes(&undone.record.operation.id).take(MAX_SHOWN);
        // The undo succeeded, so a failure to read is not reported.
        let shown = changes.flatten().map(|change| match context.services.store.get(&change.id) {
            Ok(stored) => changed_memory(context, &stored).into(),
            Err(_) => json!({ "id": change.id.short(), "deleted": true }),
        });
        let shown: Vec<Value> = shown.collect();
        let result = json::undo_result(&undone.map(Subject::Notes));
        let mut brief =
            json!({ "operation": result["operation"], "undone": result["undone"]["verb"], "files": result["undone"]["files"] });
        if let Some(left) = result["left"].as_array() {
            brief["unchanged"] = left.len().into();
        }
        brief["memories"] = shown.into();
        Ok(brief)
    },
};

#[derive(Debug, Deserialize)]
struct UndoInput {
    operation: Option<String>,
}
