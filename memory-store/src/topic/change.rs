//! Changing files: all of them or none, also when the power fails in between.

use std::collections::BTreeSet;

use memory_core::topic::{TopicError, TopicOperation};

use super::error::not_written;
use super::files::{bytes, folder_of, hash};
use super::recover::recover;
use super::trash::{self, FileLine, Line};
use crate::disk::Disk;

/// The folder in which new files wait until they may take their places. There is one writer at a time.
pub(super) const WAITING: &str = ".next";

/// Holds the name of the operation whose files wait.
pub(super) const OPERATION: &str = ".next/operation";

/// What is to become of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    pub path: String,
    /// Its bytes as they were seen, if it was there.
    pub before: Option<Vec<u8>>,
    /// Its bytes from now on, if it is to be there.
    pub after: Option<Vec<u8>>,
    /// The file whose mode and owner it is to have, if there is one.
    pub like: Option<String>,
}

/// Changes files. Returns whether they were still as they were seen; if not, nothing is done. The caller holds the lock.
pub(super) fn carry_out(
    disk: &dyn Disk,
    operation: &TopicOperation,
    undoes: Option<&str>,
    files: &[FileChange],
) -> Result<bool, TopicError> {
    let done = try_to(disk, operation, undoes, files);
    if !matches!(done, Ok(true)) {
        // If this fails too, the next writer does it.
        let _ = recover(disk);
    }
    done
}

fn try_to(disk: &dyn Disk, operation: &TopicOperation, undoes: Option<&str>, files: &[FileChange]) -> Result<bool, TopicError> {
    let told = not_written;
    let write = |path: &str, bytes: &[u8]| disk.write(path, bytes).and_then(|()| disk.sync_file(path)).map_err(told(path));
    write(OPERATION, operation.id.as_str().as_bytes())?;
    for (at, FileChange { path, before, after, like }) in files.iter().enumerate() {
        if before.is_some() {
            // That a file could be replaced does not mean that it may be changed.
            disk.check_writable(path).map_err(told(path))?;
        }
        let Some(after) = after else { continue };
        write(&waiting(at), after)?;
        like.as_ref().map_or(Ok(()), |like| disk.take_rights(&waiting(at), like)).map_err(told(path))?;
    }
    disk.sync_folder(WAITING).map_err(told(WAITING))?;

    let folder = trash::folder(operation);
    let mut folders = BTreeSet::new();
    let mut lines = Vec::new();
    for FileChange { path, before, after, .. } in files {
        let trash = before.as_ref().map(|_| format!("{folder}/{path}"));
        if let Some(trash) = &trash {
            // What an attempt kept that came to nothing is not what was before this one.
            if disk.signature(trash).map_err(told(trash))?.is_some() {
                disk.remove(trash).map_err(told(trash))?;
            }
            disk.keep(path, trash).map_err(told(trash))?;
            folders.insert(folder_of(trash).to_owned());
        }
        let (before, after) = (before.as_deref().map(hash), after.as_deref().map(hash));
        lines.push(FileLine { path: path.clone(), before, trash, after });
    }
    folders.iter().try_for_each(|folder| disk.sync_folder(folder).map_err(told(folder)))?;
    for file in files {
        if !is_as_seen(disk, file)? {
            return Ok(false);
        }
    }
    trash::append(disk, &Line::of(operation, undoes, lines))?;

    let mut folders = BTreeSet::new();
    for (at, file) in files.iter().enumerate() {
        let FileChange { path, after, .. } = file;
        if !is_as_seen(disk, file)? {
            return Ok(false);
        }
        let placed = if after.is_some() { disk.rename(&waiting(at), path) } else { disk.remove(path) };
        placed.map_err(told(path))?;
        folders.insert(folder_of(path));
    }
    folders.iter().try_for_each(|folder| disk.sync_folder(folder).map_err(told(folder)))?;
    // What was done is done: that its name is still there tells the next writer no more than to look.
    let _ = disk.remove(OPERATION);
    Ok(true)
}

/// Tells whether nobody was faster who takes no lock.
fn is_as_seen(disk: &dyn Disk, file: &FileChange) -> Result<bool, TopicError> {
    Ok(bytes(disk, &file.path)? == file.before)
}

fn waiting(at: usize) -> String {
    format!("{WAITING}/{at}")
}
