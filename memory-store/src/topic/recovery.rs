//! Recovery from an interrupted operation.

use memory_core::topic::TopicError;

use super::change::{OPERATION, WAITING};
use super::error::{damaged, not_written, refused};
use super::files::{bytes, folder_of, hash};
use super::trash::{self, TopicFileLine, TopicTrashLine};
use crate::disk::{DirEntryKind, Disk};

/// The temporary file of an old file that is restored.
const RESTORE_TEMP_FILE: &str = ".next/restored";

/// Returns whether the last writer was interrupted.
pub(super) fn is_interrupted(disk: &dyn Disk) -> Result<bool, TopicError> {
    Ok(disk.signature(OPERATION).map_err(|error| refused(OPERATION, error))?.is_some())
}

/// Rolls back the operation that the last writer did not complete. The caller holds the lock.
pub(super) fn recover(disk: &dyn Disk) -> Result<(), TopicError> {
    if !is_interrupted(disk)? {
        return Ok(());
    }
    let name = bytes(disk, OPERATION)?.unwrap_or_default();
    let line = trash::lines(disk)?.pop().filter(|line| line.operation.as_bytes() == name && !line.files.is_empty());
    if let Some(line) = line
        && !is_complete(disk, &line)?
    {
        line.files.iter().try_for_each(|file| take_back(disk, file))?;
        trash::abort(disk, &line)?;
    }
    remove_temp_files(disk)
}

/// Returns whether all files are as the operation leaves them.
fn is_complete(disk: &dyn Disk, line: &TopicTrashLine) -> Result<bool, TopicError> {
    for file in &line.files {
        if current(disk, file)? != file.after {
            return Ok(false);
        }
    }
    Ok(true)
}

fn current(disk: &dyn Disk, file: &TopicFileLine) -> Result<Option<String>, TopicError> {
    Ok(bytes(disk, &file.path)?.as_deref().map(hash))
}

/// Restores one file, unless another program has changed it since.
fn take_back(disk: &dyn Disk, file: &TopicFileLine) -> Result<(), TopicError> {
    if file.before == file.after || current(disk, file)? != file.after {
        return Ok(());
    }
    let path = file.path.as_str();
    let told = not_written(path);
    if let Some(trash) = &file.trash {
        let former = bytes(disk, trash)?.ok_or_else(|| damaged(trash, "it is missing"))?;
        disk.write(RESTORE_TEMP_FILE, &former).and_then(|()| disk.sync_file(RESTORE_TEMP_FILE)).map_err(&told)?;
        disk.take_rights(RESTORE_TEMP_FILE, trash).map_err(&told)?;
        disk.rename(RESTORE_TEMP_FILE, path).map_err(&told)?;
    } else {
        disk.remove(path).map_err(&told)?;
    }
    disk.sync_folder(folder_of(path)).map_err(&told)
}

/// Removes the temporary files; the name of the operation is removed last.
fn remove_temp_files(disk: &dyn Disk) -> Result<(), TopicError> {
    for entry in disk.folder(WAITING).map_err(|error| refused(WAITING, error))? {
        let path = format!("{WAITING}/{}", entry.name);
        if entry.kind == DirEntryKind::File && path != OPERATION {
            disk.remove(&path).map_err(not_written(&path))?;
        }
    }
    disk.remove(OPERATION).map_err(not_written(OPERATION))
}
