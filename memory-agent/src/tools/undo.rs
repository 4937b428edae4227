//! The `memory_undo` tool.

use memory_core::{
    AnswerDetail, Code, Effect, RecordedChange, Services, StoreError, Subject, ToolError,
    UndoReport,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::brief::changed_memory;
use super::built_in::BuiltInTool;
use crate::json;

/// Maximum number of memories that the brief result shows.
const MAX_SHOWN: usize = 5;

/// Reverts an operation of this agent.
pub(super) const MEMORY_UNDO: BuiltInTool<UndoInput> = BuiltInTool {
    name: "memory_undo",
    description: "Undo your last change of the memory `id`, such as its deletion; without id, your last change.",
    effect: Effect::Changes,
    execute: |context, UndoInput { id }| {
        let undone = undo_change_or_operation(&context.services, id.as_deref()).map_err(|error| {
            let mut error = ToolError::from(error);
            if error.code == Code::OperationNotFound {
                error.hint =
                    id.as_ref().map(|_| "you can undo your own changes only; use the id that the change returned".to_owned());
            }
            error
        })?;
        if context.detail == AnswerDetail::Full {
            return Ok(json::undo_result(&undone.map(Subject::Notes)));
        }
        let changes = context
            .services
            .history
            .changes(&undone.undo)
            .take(MAX_SHOWN);
        // The undo succeeded, so a failure to read is not reported.
        let shown = changes
            .flatten()
            .map(|change| match context.services.store.get(&change.id) {
                Ok(stored) => changed_memory(context, &stored).into(),
                Err(_) => {
                    json!({ "id": change.id.short(), "deleted": true, "text": file_title(&change) })
                }
            });
        let shown: Vec<Value> = shown.collect();
        let result = json::undo_result(&undone.map(Subject::Notes));
        let mut brief = json!({ "operation": result["operation"], "undone": result["undone"]["verb"], "files": result["undone"]["files"] });
        if let Some(left) = result["left"].as_array() {
            brief["unchanged"] = left.len().into();
        }
        brief["memories"] = shown.into();
        Ok(brief)
    },
};

/// Undoes the last operation on the memory with this id, the operation with this id, or the last operation.
fn undo_change_or_operation(
    services: &Services,
    id: Option<&str>,
) -> Result<UndoReport, StoreError> {
    let Some(id) = id else {
        return memory_core::undo(services, None);
    };
    match memory_core::undo_last_change(services, id) {
        Err(no_change @ StoreError::OperationNotFound { .. }) => {
            match memory_core::undo(services, Some(id)) {
                Err(StoreError::OperationNotFound { .. }) => Err(no_change),
                done => done,
            }
        }
        done => done,
    }
}

/// Returns the words in the name of the file of a memory, without the start of its id.
fn file_title(change: &RecordedChange) -> String {
    let path = change
        .after
        .as_ref()
        .or(change.before.as_ref())
        .map(|file| file.path.as_str())
        .unwrap_or_default();
    let name = path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".md");
    name.trim_end_matches(&change.id.short())
        .replace('-', " ")
        .trim()
        .to_owned()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UndoInput {
    id: Option<String>,
}
