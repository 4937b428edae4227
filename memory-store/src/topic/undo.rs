//! Undo of an operation.

use memory_core::topic::{TopicError, TopicRecord};
use memory_core::{Operation, OperationId, Recorded, StoreError, find_undoable};

use super::change::{TopicFileChange, apply_changes};
use super::error::damaged_error;
use super::files::read_bytes;
use super::trash::{self, TopicPayload};
use crate::disk::Disk;
use crate::oplog::{hash_bytes, to_record};

/// Undoes the operation `undone`. The caller holds the lock.
pub(super) fn undo(disk: &dyn Disk, undone: &OperationId, operation: &Operation) -> Result<TopicRecord, TopicError> {
    // An index that was copied to the trash has a line of its own.
    let has_files = |line: &Result<Recorded<TopicPayload>, _>| line.as_ref().map_or(true, |line| !line.subject.files.is_empty());
    let line = find_undoable(trash::operations(disk)?.filter(has_files), undone)?;
    let changes = plan_undo(disk, &line.subject)?;
    let missing = || StoreError::OperationNotFound { wanted: format!("no operation has the id {undone}") };
    let record = to_record(line).ok_or_else(missing)?;
    if !apply_changes(disk, operation, Some(undone), &changes)? {
        return Err(TopicError::Conflict { name: record.subject.files.join(", ") });
    }
    Ok(record)
}

/// Returns the changes of the undo, if the files are as the operation left them.
fn plan_undo(disk: &dyn Disk, payload: &TopicPayload) -> Result<Vec<TopicFileChange>, TopicError> {
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
    payload.files.iter().map(change).collect()
}
