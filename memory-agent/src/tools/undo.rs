//! The `memory_undo` tool.

use memory_core::{Code, Effect, Subject, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::object_schema;
use super::input::parse_input;
use crate::json;

/// Reverts an operation of this agent.
#[derive(Debug)]
pub(super) struct UndoTool;

#[derive(Debug, Deserialize)]
struct UndoInput {
    operation: Option<String>,
}

impl Tool for UndoTool {
    fn name(&self) -> &'static str {
        "memory_undo"
    }

    fn description(&self) -> &'static str {
        "Undo your last operation on the memories, or the given one."
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "operation": { "type": "string", "minLength": 4 } }), &[])
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let UndoInput { operation } = parse_input(parameters)?;
        let undone = memory_core::undo(&context.services, operation.as_deref()).map_err(|error| {
            let mut error = ToolError::from(error);
            if error.code == Code::OperationNotFound {
                error.hint = operation.as_ref().map(|_| "omit operation to undo the last change".to_owned());
            }
            error
        })?;
        Ok(json::undo_result(&undone.map(Subject::Notes)))
    }
}
