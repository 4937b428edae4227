//! Performs the steps of an operation.

use std::collections::BTreeSet;
use std::io;

use memory_core::{ContentHash, Operation, OperationId, Recorded, RecordedChange, StoreError};

use super::progress::file_hash;
use super::{CommitStep, JournalPayload, journal, journal_write_error, parent_folder, record_changes, roll_back, temporary_path};
use crate::disk::Disk;
use crate::error::io_error;

/// Minimum number of files for which one sync of the file system is cheaper than a sync of each file.
const SYNC_ALL_MIN_FILES: usize = 8;

/// Performs `steps` as `operation`, and rolls back on failure.
///
/// The caller holds the writer lock, and has checked that every previous file is in the state of its step. Other programs may write without
/// the lock, so each file is checked again just before it is replaced.
///
/// # Errors
/// If the disk fails, or [`StoreError::Conflict`] if a file is not in the expected state. All other files are in their previous state then.
pub(crate) fn execute_steps(
    disk: &dyn Disk,
    operation: &Operation,
    undoes: Option<&OperationId>,
    steps: &[CommitStep],
) -> Result<(), StoreError> {
    if steps.is_empty() {
        return Ok(());
    }
    let record = Recorded::new(operation, JournalPayload { changes: record_changes(disk, operation, steps) }, undoes);
    journal(disk).append(&record).map_err(journal_write_error)?;
    perform(disk, &operation.id, steps, &record.subject.changes).map_err(|stopped| {
        // If the rollback fails too, the next writer completes it from the journal.
        let _ = roll_back(disk, &record);
        match stopped {
            StepFailure::Refused(error) => io_error(format!("{} {}", operation.verb, describe(steps)), error),
            StepFailure::Changed(what) => StoreError::Conflict { what },
        }
    })
}

/// The reason why an operation was not performed.
enum StepFailure {
    /// The disk failed.
    Refused(io::Error),
    /// The file has changed since it was read.
    Changed(String),
}

impl From<io::Error> for StepFailure {
    fn from(error: io::Error) -> Self {
        Self::Refused(error)
    }
}

fn perform(disk: &dyn Disk, id: &OperationId, steps: &[CommitStep], changes: &[RecordedChange]) -> Result<(), StepFailure> {
    let mut new = Vec::new();
    for (step, next) in steps.iter().filter_map(|step| Some((step, step.after.as_ref()?))) {
        let waiting = temporary_path(&next.path, id);
        disk.write(&waiting, &next.bytes)?;
        let former = step.before.as_ref().filter(|former| former.path == next.path);
        new.push((waiting, next.path.as_str(), former.map(|former| former.hash)));
    }
    if new.len() < SYNC_ALL_MIN_FILES || !disk.sync_everything()? {
        new.iter().try_for_each(|(waiting, ..)| disk.sync_file(waiting))?;
    }
    let mut trash_folders = BTreeSet::new();
    for former in changes.iter().filter_map(|change| change.before.as_ref()) {
        if let Some(trash) = &former.trash {
            disk.hard_link(&former.path, trash)?;
            trash_folders.insert(parent_folder(trash));
        }
    }
    trash_folders.into_iter().try_for_each(|folder| disk.sync_folder(folder))?;
    let mut folders = BTreeSet::new();
    for (waiting, path, former) in &new {
        check_unchanged(disk, path, *former)?;
        disk.rename(waiting, path)?;
        folders.insert(parent_folder(path));
    }
    // A file must be durable under its new name before its previous name is removed.
    folders.into_iter().try_for_each(|folder| disk.sync_folder(folder))?;
    let mut folders = BTreeSet::new();
    for step in steps {
        let stays = |path: &str| step.after.as_ref().is_some_and(|next| next.path == path);
        if let Some(former) = step.before.as_ref().filter(|former| !stays(&former.path)) {
            check_unchanged(disk, &former.path, Some(former.hash))?;
            disk.remove(&former.path)?;
            folders.insert(parent_folder(&former.path));
        }
    }
    folders.into_iter().try_for_each(|folder| disk.sync_folder(folder))?;
    Ok(())
}

/// Checks that a file has the hash `seen`, or does not exist if that is `None`.
fn check_unchanged(disk: &dyn Disk, path: &str, seen: Option<ContentHash>) -> Result<(), StepFailure> {
    // If no file is expected, every existing file belongs to another program.
    let is_as_seen = if seen.is_some() { file_hash(disk, path)? == seen } else { disk.stat(path)?.is_none() };
    if is_as_seen { Ok(()) } else { Err(StepFailure::Changed(path.to_owned())) }
}

/// Returns whether a file name is that of a temporary file.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).is_some()
}

fn describe(steps: &[CommitStep]) -> String {
    let path = |step: &CommitStep| {
        step.after.as_ref().map(|next| next.path.clone()).or(step.before.as_ref().map(|former| former.path.clone()))
    };
    match steps {
        [only] => path(only).unwrap_or_default(),
        many => format!("{} files", many.len()),
    }
}
