//! Changes of files that take effect completely or not at all, and their undo.

use memory_core::topic::{TopicError, TopicRecord};
use memory_core::{Operation, OperationId, Recorded};

use super::error::{damaged_error, write_error};
use super::external;
use super::trash::{self, TopicFileLine, TopicPayload};
use crate::disk::Disk;
use crate::oplog::{
    FileChange, FileOperations, FilePayload, NewContent, OperationError, Staging, find_undoable,
    hash_bytes,
};
use crate::store_folder::is_visible;

/// The folder of new files before they replace the old ones. There is one writer at a time.
const WAITING: &str = ".next";

/// The change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TopicFileChange {
    pub path: String,
    /// The hash of the content that was read before the change, if the file existed.
    pub before: Option<String>,
    /// The content after the change, if the file is to exist.
    pub after: Option<Vec<u8>>,
    /// The file from which the mode and the owner are copied, if there is one.
    pub like: Option<String>,
}

/// Changes files, and returns whether they had the expected content; if not, nothing is changed.
///
/// The caller holds the lock.
pub(super) fn apply_changes(
    disk: &dyn Disk,
    operation: &Operation,
    undoes: Option<&OperationId>,
    files: &[TopicFileChange],
) -> Result<bool, TopicError> {
    for file in files.iter().filter(|file| file.before.is_some()) {
        // A read-only file could still be replaced by a rename.
        disk.check_writable(&file.path)
            .map_err(write_error(&file.path))?;
    }
    let folder = trash::log(disk).trash_folder(operation);
    let line = |TopicFileChange {
                    path,
                    before,
                    after,
                    ..
                }: &TopicFileChange| TopicFileLine {
        path: path.clone(),
        before: before.clone(),
        trash: before.as_ref().map(|_| format!("{folder}/{path}")),
        after: after.as_deref().map(hash_bytes),
    };
    let payload = TopicPayload {
        files: files.iter().map(line).collect(),
        index: None,
    };
    let contents: Vec<_> = files
        .iter()
        .map(|file| {
            Some(NewContent {
                bytes: file.after.as_deref()?,
                like: file.like.as_deref(),
            })
        })
        .collect();
    match file_operations(disk).execute(&Recorded::new(operation, payload, undoes), &contents) {
        Ok(()) => {
            // If this fails, the next operation compares the copies with the log.
            let _ = external::copy_changed(
                disk,
                files
                    .iter()
                    .map(|file| (file.path.as_str(), file.after.as_deref())),
            );
            Ok(true)
        }
        Err(OperationError::Changed(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the last writer was interrupted.
pub(super) fn is_interrupted(disk: &dyn Disk) -> Result<bool, TopicError> {
    Ok(file_operations(disk).has_mark()?)
}

/// Rolls back the operation that the last writer did not complete. The caller holds the lock.
pub(super) fn recover(disk: &dyn Disk) -> Result<(), TopicError> {
    file_operations(disk).recover(None)
}

fn file_operations(disk: &dyn Disk) -> FileOperations<'_, TopicPayload> {
    FileOperations::new(disk, Staging::Folder(WAITING))
}

/// Undoes the operation `undone`. The caller holds the lock.
pub(super) fn undo(
    disk: &dyn Disk,
    undone: &OperationId,
    operation: &Operation,
) -> Result<TopicRecord, TopicError> {
    // An index that was copied to the trash has a line of its own.
    let has_files = |line: &Result<Recorded<TopicPayload>, _>| {
        line.as_ref()
            .map_or(true, |line| !line.subject.files.is_empty())
    };
    let (line, record) = find_undoable(trash::log(disk).operations()?.filter(has_files), undone)?;
    let changes = plan_undo(disk, &line.subject)?;
    if !apply_changes(disk, operation, Some(undone), &changes)? {
        return Err(TopicError::Conflict {
            name: record.subject.files.join(", "),
        });
    }
    Ok(record)
}

/// Returns the changes of the undo, if the files are as the operation left them.
fn plan_undo(disk: &dyn Disk, payload: &TopicPayload) -> Result<Vec<TopicFileChange>, TopicError> {
    // In a shared folder, other members write the log too. No topic has a hidden path.
    if let Some(file) = payload.files.iter().find(|file| !is_visible(&file.path)) {
        return Err(damaged_error(&file.path, "it is the path of no topic"));
    }
    let operations = file_operations(disk);
    let change = |(line, change): (&TopicFileLine, FileChange)| {
        let after = operations
            .previous_content(&change)
            .map_err(|error| match error {
                OperationError::Changed(name) => TopicError::ChangedSince { name },
                error => error.into(),
            })?;
        // The mode and owner of the current file may have changed since.
        let rights = if line.after.is_some() {
            Some(line.path.clone())
        } else {
            line.trash.clone()
        };
        Ok(TopicFileChange {
            path: line.path.clone(),
            before: line.after.clone(),
            after,
            like: rights,
        })
    };
    payload
        .files
        .iter()
        .zip(payload.files())
        .map(change)
        .collect()
}
