//! Changes of files that take effect completely or not at all, even after a power loss.

use std::collections::BTreeSet;

use memory_core::topic::TopicError;
use memory_core::{Operation, OperationId, Recorded};

use super::error::write_error;
use super::files::{parent_folder, read_bytes};
use super::recovery::recover;
use super::trash::{self, TopicFileLine, TopicPayload};
use crate::disk::Disk;
use crate::oplog::hash_bytes;

/// The folder of new files before they replace the old ones. There is one writer at a time.
pub(super) const WAITING: &str = ".next";

/// The file with the name of the operation that has files in [`WAITING`].
pub(super) const OPERATION: &str = ".next/operation";

/// The change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TopicFileChange {
    pub path: String,
    /// The content that was read before the change, if the file existed.
    pub before: Option<Vec<u8>>,
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
    let done = try_apply(disk, operation, undoes, files);
    if !matches!(done, Ok(true)) {
        // If this fails too, the next writer repeats it.
        let _ = recover(disk);
    }
    done
}

fn try_apply(
    disk: &dyn Disk,
    operation: &Operation,
    undoes: Option<&OperationId>,
    files: &[TopicFileChange],
) -> Result<bool, TopicError> {
    let told = write_error;
    let write = |path: &str, bytes: &[u8]| disk.write(path, bytes).and_then(|()| disk.sync_file(path)).map_err(told(path));
    write(OPERATION, operation.id.as_str().as_bytes())?;
    for (at, TopicFileChange { path, before, after, like }) in files.iter().enumerate() {
        if before.is_some() {
            // A read-only file could still be replaced by a rename.
            disk.check_writable(path).map_err(told(path))?;
        }
        let Some(after) = after else { continue };
        write(&temp_path(at), after)?;
        like.as_ref().map_or(Ok(()), |like| disk.copy_permissions(&temp_path(at), like)).map_err(told(path))?;
    }
    disk.sync_folder(WAITING).map_err(told(WAITING))?;

    let folder = trash::log(disk).trash_folder(operation);
    let mut folders = BTreeSet::new();
    let mut lines = Vec::new();
    for TopicFileChange { path, before, after, .. } in files {
        let trash = before.as_ref().map(|_| format!("{folder}/{path}"));
        if let Some(trash) = &trash {
            // An aborted attempt may have left an old copy.
            if disk.stat(trash).map_err(told(trash))?.is_some() {
                disk.remove(trash).map_err(told(trash))?;
            }
            disk.hard_link(path, trash).map_err(told(trash))?;
            folders.insert(parent_folder(trash).to_owned());
        }
        let (before, after) = (before.as_deref().map(hash_bytes), after.as_deref().map(hash_bytes));
        lines.push(TopicFileLine { path: path.clone(), before, trash, after });
    }
    folders.iter().try_for_each(|folder| disk.sync_folder(folder).map_err(told(folder)))?;
    for file in files {
        if !is_unchanged(disk, file)? {
            return Ok(false);
        }
    }
    let payload = TopicPayload { files: lines, index: None };
    trash::log(disk).append(&Recorded::new(operation, payload, undoes)).map_err(told(trash::FOLDER))?;

    let mut folders = BTreeSet::new();
    for (at, file) in files.iter().enumerate() {
        let TopicFileChange { path, after, .. } = file;
        if !is_unchanged(disk, file)? {
            return Ok(false);
        }
        let placed = if after.is_some() { disk.rename(&temp_path(at), path) } else { disk.remove(path) };
        placed.map_err(told(path))?;
        folders.insert(parent_folder(path));
    }
    folders.iter().try_for_each(|folder| disk.sync_folder(folder).map_err(told(folder)))?;
    // If this fails, the next writer only checks that the operation is complete.
    let _ = disk.remove(OPERATION);
    Ok(true)
}

/// Returns whether the file is unchanged by writers that do not use the lock.
fn is_unchanged(disk: &dyn Disk, file: &TopicFileChange) -> Result<bool, TopicError> {
    Ok(read_bytes(disk, &file.path)? == file.before)
}

fn temp_path(at: usize) -> String {
    format!("{WAITING}/{at}")
}
