//! Undo of an operation.

use memory_core::topic::{TopicError, TopicRecord};
use memory_core::{Operation, OperationId, StoreError};

use super::change::{TopicFileChange, apply_changes};
use super::error::damaged_error;
use super::files::{hash_bytes, read_bytes};
use super::trash::{self, TopicTrashLine};
use crate::disk::Disk;

/// Undoes the operation `undone`. The caller holds the lock.
pub(super) fn undo(disk: &dyn Disk, undone: &OperationId, operation: &Operation) -> Result<TopicRecord, TopicError> {
    let unknown = || TopicError::from(StoreError::OperationNotFound { wanted: format!("no operation has the id {undone}") });
    let record = trash::records(disk)?.into_iter().find(|record| record.operation.id == *undone).ok_or_else(unknown)?;
    if let Some(other) = &record.undone_by {
        return Err(StoreError::Invalid { why: format!("{undone} was already undone by {other}") }.into());
    }
    let is_it = |line: &TopicTrashLine| line.operation == undone.as_str() && !line.files.is_empty();
    let line = trash::completed_lines(disk)?.into_iter().find(is_it).ok_or_else(unknown)?;
    let changes = plan_undo(disk, &line)?;
    if !apply_changes(disk, operation, Some(undone.as_str()), &changes)? {
        return Err(TopicError::Conflict { name: record.subject.files.join(", ") });
    }
    Ok(record)
}

/// Returns the changes of the undo, if the files are as the operation left them.
fn plan_undo(disk: &dyn Disk, line: &TopicTrashLine) -> Result<Vec<TopicFileChange>, TopicError> {
    let change = |file: &trash::TopicFileLine| {
        let current = read_bytes(disk, &file.path)?;
        if current.as_deref().map(hash_bytes) != file.after {
            return Err(TopicError::ChangedSince { name: file.path.clone() });
        }
        let former =
            file.trash.as_deref().map(|trash| read_bytes(disk, trash)?.ok_or_else(|| damaged_error(trash, "it is missing")));
        // The mode and owner of the current file may have changed since.
        let rights = if current.is_some() { Some(file.path.clone()) } else { file.trash.clone() };
        Ok(TopicFileChange { path: file.path.clone(), before: current, after: former.transpose()?, like: rights })
    };
    line.files.iter().map(change).collect()
}
