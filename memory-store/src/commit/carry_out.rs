//! Carrying out the steps of an operation.

use std::collections::BTreeSet;
use std::io;

use memory_core::{ContentHash, Operation, OperationId, RecordedChange, StoreError};

use super::status::hash;
use super::{Step, folder_of, record, roll_back, waiting_path};
use crate::disk::Disk;
use crate::error::io_error;
use crate::journal::Journal;

/// From how many files on one sync of everything is cheaper than one each.
const MANY: usize = 8;

/// Carries out `steps` as `operation`; if that fails, takes back what was done.
///
/// The caller holds the writer lock, and has checked that every former file is as the steps say. Whoever takes no lock may be faster all
/// the same, so each file is looked at once more in the moment in which it is replaced.
///
/// # Errors
/// When the disk refuses, [`StoreError::Conflict`] when a file is not as the steps say; then every other file is as it was.
pub(crate) fn carry_out(
    disk: &dyn Disk,
    journal: &Journal,
    operation: &Operation,
    undoes: Option<&OperationId>,
    steps: &[Step],
) -> Result<(), StoreError> {
    if steps.is_empty() {
        return Ok(());
    }
    let changes = record(disk, operation, steps);
    journal.begin(operation, undoes, &changes)?;
    perform(disk, &operation.id, steps, &changes).map_err(|stopped| {
        // If even this fails, the journal tells the next writer to do it.
        let _ = roll_back(disk, journal, &operation.id, operation.at, &changes);
        match stopped {
            Stopped::Refused(error) => io_error(format!("{} {}", operation.verb, describe(steps)), error),
            Stopped::Changed(what) => StoreError::Conflict { what },
        }
    })
}

/// Why an operation was not carried out.
enum Stopped {
    /// The disk refused.
    Refused(io::Error),
    /// This file is no longer as it was seen.
    Changed(String),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Refused(error)
    }
}

fn perform(disk: &dyn Disk, id: &OperationId, steps: &[Step], changes: &[RecordedChange]) -> Result<(), Stopped> {
    let mut new = Vec::new();
    for (step, next) in steps.iter().filter_map(|step| Some((step, step.after.as_ref()?))) {
        let waiting = waiting_path(&next.path, id);
        disk.write(&waiting, &next.bytes)?;
        let former = step.before.as_ref().filter(|former| former.path == next.path);
        new.push((waiting, next.path.as_str(), former.map(|former| former.hash)));
    }
    if new.len() < MANY || !disk.sync_everything()? {
        new.iter().try_for_each(|(waiting, ..)| disk.sync_file(waiting))?;
    }
    let mut trash_folders = BTreeSet::new();
    for former in changes.iter().filter_map(|change| change.before.as_ref()) {
        if let Some(trash) = &former.trash {
            disk.keep(&former.path, trash)?;
            trash_folders.insert(folder_of(trash));
        }
    }
    trash_folders.into_iter().try_for_each(|folder| disk.sync_folder(folder))?;
    let mut folders = BTreeSet::new();
    for (waiting, path, former) in &new {
        still(disk, path, *former)?;
        disk.rename(waiting, path)?;
        folders.insert(folder_of(path));
    }
    // What is in no folder any more must be in another one for good.
    folders.into_iter().try_for_each(|folder| disk.sync_folder(folder))?;
    let mut folders = BTreeSet::new();
    for step in steps {
        let stays = |path: &str| step.after.as_ref().is_some_and(|next| next.path == path);
        if let Some(former) = step.before.as_ref().filter(|former| !stays(&former.path)) {
            still(disk, &former.path, Some(former.hash))?;
            disk.remove(&former.path)?;
            folders.insert(folder_of(&former.path));
        }
    }
    folders.into_iter().try_for_each(|folder| disk.sync_folder(folder))?;
    Ok(())
}

/// Makes sure that a file is as it was seen, or that there still is none.
fn still(disk: &dyn Disk, path: &str, seen: Option<ContentHash>) -> Result<(), Stopped> {
    // Where none was seen, whatever is there is another's.
    let is_as_seen = if seen.is_some() { hash(disk, path)? == seen } else { disk.signature(path)?.is_none() };
    if is_as_seen { Ok(()) } else { Err(Stopped::Changed(path.to_owned())) }
}

/// Tells whether a file name is that of bytes that never took their place.
pub(crate) fn is_leftover(name: &str) -> bool {
    name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).is_some()
}

fn describe(steps: &[Step]) -> String {
    let path = |step: &Step| {
        step.after.as_ref().map(|next| next.path.clone()).or(step.before.as_ref().map(|former| former.path.clone()))
    };
    match steps {
        [only] => path(only).unwrap_or_default(),
        many => format!("{} files", many.len()),
    }
}
