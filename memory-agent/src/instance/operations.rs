//! The actions `operations` and `undo` of backends with a journal.

use memory_core::instance::{InstanceRecord, InstanceUndoReport};
use memory_core::json::JsonText;
use memory_core::{Effect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Action, ActionResult, InstanceHandle};
use crate::json::quoted_time;

/// Default number of operations.
const DEFAULT_LIMIT: usize = 20;

/// Returns the action that lists operations.
pub(super) fn operations_action(description: &'static str) -> Action {
    Action::own("operations", description, Effect::Reads, list_operations)
}

/// Returns the action that reverts an operation.
pub(super) fn undo_action(description: &'static str) -> Action {
    Action::own("undo", description, Effect::Changes, undo_operation)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OperationsInput {
    /// Maximum number of operations; default: 20
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OperationUndoInput {
    /// The operation id, as listed by the action operations; at least its first 4 digits
    operation: Option<String>,
}

fn list_operations(
    holding: &InstanceHandle,
    OperationsInput { limit }: OperationsInput,
) -> Result<ActionResult, ToolError> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let records = match holding {
        InstanceHandle::History(messages) => {
            memory_core::instance::history::operations(messages, limit)?
        }
        InstanceHandle::Kv(_) | InstanceHandle::Tools(_) => {
            memory_core::instance::kv::operations(holding.kv(), limit)?
        }
    };
    let listed: Vec<_> = records
        .iter()
        .map(|record| record_json(holding, record))
        .collect();
    Ok(ActionResult::of(format!("[{}]", listed.join(","))))
}

fn undo_operation(
    holding: &InstanceHandle,
    OperationUndoInput { operation }: OperationUndoInput,
) -> Result<ActionResult, ToolError> {
    let InstanceUndoReport { record, undo, .. } = match holding {
        InstanceHandle::History(messages) => {
            memory_core::instance::history::undo(messages, operation.as_deref())?
        }
        InstanceHandle::Kv(_) | InstanceHandle::Tools(_) => {
            memory_core::instance::kv::undo(holding.kv(), operation.as_deref())?
        }
    };
    Ok(ActionResult::of(format!(
        r#"{{"operation":"{undo}","undone":{}}}"#,
        record_json(holding, &record)
    )))
}

fn record_json(holding: &InstanceHandle, record: &InstanceRecord) -> String {
    let subject = JsonText::string(&record.subject.name);
    let subject = match holding {
        InstanceHandle::History(_) => {
            format!(r#""session":{subject},"records":{}"#, record.subject.count)
        }
        InstanceHandle::Kv(_) | InstanceHandle::Tools(_) => format!(r#""key":{subject}"#),
    };
    let other = |name: &str, id: Option<&memory_core::OperationId>| {
        id.map_or_else(String::new, |id| format!(r#","{name}":"{id}""#))
    };
    format!(
        r#"{{"operation":"{}","at":{},"verb":"{}",{subject}{}{}}}"#,
        record.operation.id,
        quoted_time(record.operation.at),
        record.operation.verb.as_str(),
        other("undoes", record.undoes.as_ref()),
        other("undone_by", record.undone_by.as_ref()),
    )
}
