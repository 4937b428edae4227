//! Recovery from an interrupted operation.

use memory_core::Recorded;
use memory_core::topic::TopicError;

use super::change::{OPERATION, WAITING};
use super::error::{damaged_error, read_error, write_error};
use super::files::{parent_folder, read_bytes};
use super::trash::{self, TopicFileLine, TopicPayload};
use crate::disk::{DirEntryKind, Disk};
use crate::oplog::hash_bytes;

/// The temporary file of an old file that is restored.
const RESTORE_TEMP_FILE: &str = ".next/restored";

/// Returns whether the last writer was interrupted.
pub(super) fn is_interrupted(disk: &dyn Disk) -> Result<bool, TopicError> {
    Ok(disk.stat(OPERATION).map_err(|error| read_error(OPERATION, error))?.is_some())
}

/// Rolls back the operation that the last writer did not complete. The caller holds the lock.
pub(super) fn recover(disk: &dyn Disk) -> Result<(), TopicError> {
    if !is_interrupted(disk)? {
        return Ok(());
    }
    let name = read_bytes(disk, OPERATION)?.unwrap_or_default();
    let last = trash::operations(disk)?.next().transpose()?;
    if let Some(Recorded { operation, subject, .. }) = last
        && operation.id.as_str().as_bytes() == name
        && !is_complete(disk, &subject)?
    {
        subject.files.iter().try_for_each(|file| restore_file(disk, file))?;
        trash::log(disk).append_abort(&operation).map_err(write_error(trash::FOLDER))?;
    }
    remove_temp_files(disk)
}

/// Returns whether all files are as the operation leaves them.
fn is_complete(disk: &dyn Disk, line: &TopicPayload) -> Result<bool, TopicError> {
    for file in &line.files {
        if current_hash(disk, file)? != file.after {
            return Ok(false);
        }
    }
    Ok(true)
}

fn current_hash(disk: &dyn Disk, file: &TopicFileLine) -> Result<Option<String>, TopicError> {
    Ok(read_bytes(disk, &file.path)?.as_deref().map(hash_bytes))
}

/// Restores one file, unless another program has changed it since.
fn restore_file(disk: &dyn Disk, file: &TopicFileLine) -> Result<(), TopicError> {
    if file.before == file.after || current_hash(disk, file)? != file.after {
        return Ok(());
    }
    let path = file.path.as_str();
    let told = write_error(path);
    if let Some(trash) = &file.trash {
        let former = read_bytes(disk, trash)?.ok_or_else(|| damaged_error(trash, "it is missing"))?;
        disk.write(RESTORE_TEMP_FILE, &former).and_then(|()| disk.sync_file(RESTORE_TEMP_FILE)).map_err(&told)?;
        disk.copy_permissions(RESTORE_TEMP_FILE, trash).map_err(&told)?;
        disk.rename(RESTORE_TEMP_FILE, path).map_err(&told)?;
    } else {
        disk.remove(path).map_err(&told)?;
    }
    disk.sync_folder(parent_folder(path)).map_err(&told)
}

/// Removes the temporary files; the name of the operation is removed last.
fn remove_temp_files(disk: &dyn Disk) -> Result<(), TopicError> {
    for entry in disk.list_folder(WAITING).map_err(|error| read_error(WAITING, error))? {
        let path = format!("{WAITING}/{}", entry.name);
        if entry.kind == DirEntryKind::File && path != OPERATION {
            disk.remove(&path).map_err(write_error(&path))?;
        }
    }
    disk.remove(OPERATION).map_err(write_error(OPERATION))
}
