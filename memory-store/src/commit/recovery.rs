//! Rolls back an interrupted operation.

use std::collections::BTreeSet;
use std::io;

use memory_core::{OperationId, Recorded, RecordedChange, RecordedFile, StoreError};

use super::progress::{ChangeProgress, change_progress};
use super::{JournalPayload, journal, journal_read_error, journal_write_error, parent_folder, temporary_path};
use crate::disk::Disk;
use crate::error::io_error;
use crate::oplog::LogPosition;

/// Rolls back the last operation after `mark` if it was interrupted.
///
/// The caller holds the writer lock, so an incomplete operation is not in progress. Only the last operation can be incomplete, because
/// each writer recovers before it starts.
pub(crate) fn recover(disk: &dyn Disk, mark: Option<&LogPosition>) -> Result<(), StoreError> {
    let Some(last) = journal(disk).last_after(mark).map_err(journal_read_error)? else { return Ok(()) };
    let id = &last.operation.id;
    let refused = |error| io_error(format!("check operation {id}"), error);
    if was_interrupted(disk, id, &last.subject.changes).map_err(refused)? { roll_back(disk, &last) } else { Ok(()) }
}

/// Returns whether an operation was interrupted.
///
/// Some files in the previous state do not suffice: another program may have deleted a file or restored a previous version later, and the
/// other files must not be rolled back for that. An interruption leaves temporary files with new content, or a previous file that is still
/// to be removed.
fn was_interrupted(disk: &dyn Disk, id: &OperationId, changes: &[RecordedChange]) -> io::Result<bool> {
    let (mut is_begun, mut is_open) = (false, false);
    for change in changes {
        match change_progress(disk, change)? {
            ChangeProgress::Halfway => return Ok(true),
            ChangeProgress::Done => is_begun = true,
            ChangeProgress::Foreign => {}
            ChangeProgress::Open => match &change.after {
                Some(after) if disk.stat(&temporary_path(&after.path, id))?.is_none() => is_open = true,
                _ => return Ok(true),
            },
        }
    }
    Ok(is_open && !is_begun)
}

/// Restores the previous state of all files of an operation, and records it in the journal.
pub(crate) fn roll_back(disk: &dyn Disk, record: &Recorded<JournalPayload>) -> Result<(), StoreError> {
    let id = &record.operation.id;
    restore_files(disk, id, &record.subject.changes).map_err(|error| io_error(format!("undo operation {id}"), error))?;
    journal(disk).append_abort(&record.operation).map_err(journal_write_error)
}

fn restore_files(disk: &dyn Disk, id: &OperationId, changes: &[RecordedChange]) -> io::Result<()> {
    let mut folders = BTreeSet::new();
    // The evidence of the interruption is removed last, because the rollback may be interrupted as well.
    for stage in [ChangeProgress::Done, ChangeProgress::Halfway] {
        for change in changes.iter().rev() {
            if change_progress(disk, change)? == stage {
                folders.extend(restore_file(disk, id, change)?);
            }
        }
    }
    folders.iter().try_for_each(|folder| disk.sync_folder(folder))?;
    for after in changes.iter().filter_map(|change| change.after.as_ref()) {
        disk.remove(&temporary_path(&after.path, id))?;
    }
    for change in changes {
        // A previous file that is active again needs no copy in the trash. If another program has replaced it, the copy is a previous
        // version.
        let trash = change.before.as_ref().and_then(|former| former.trash.as_ref());
        if let Some(trash) = trash.filter(|_| matches!(change_progress(disk, change), Ok(ChangeProgress::Open))) {
            disk.remove(trash)?;
            disk.remove_folder(parent_folder(trash))?;
        }
    }
    Ok(())
}

/// Restores the previous file of a change, and returns the folders with changed names.
fn restore_file(disk: &dyn Disk, id: &OperationId, change: &RecordedChange) -> io::Result<Vec<String>> {
    let mut folders = Vec::new();
    let takes_its_place = |after: &RecordedFile| change.before.as_ref().is_some_and(|before| before.path == after.path);
    let moves = change.after.as_ref().is_some_and(|after| !takes_its_place(after));
    let before = change.before.as_ref();
    // If another program has put a file at the previous path of a moved one, that file is left unchanged.
    let is_taken = before.filter(|_| moves).map(|before| disk.stat(&before.path)).transpose()?.flatten().is_some();
    if let Some(before) = before.filter(|_| !is_taken) {
        let trash = before.trash.as_deref().unwrap_or_default();
        let Some((bytes, _)) = disk.read(trash)? else {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{trash} does not exist")));
        };
        let waiting = temporary_path(&before.path, id);
        disk.write(&waiting, &bytes)?;
        disk.sync_file(&waiting)?;
        disk.rename(&waiting, &before.path)?;
        folders.push(parent_folder(&before.path).to_owned());
    }
    if let Some(after) = change.after.as_ref().filter(|_| moves) {
        // A file must be durable under its previous name before its new name is removed.
        folders.drain(..).try_for_each(|folder: String| disk.sync_folder(&folder))?;
        disk.remove(&after.path)?;
        folders.push(parent_folder(&after.path).to_owned());
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use memory_core::{ContentHash, IdSource, MemoryId, Operation, Verb, testing::CountingIds};

    use super::{journal, recover};
    use crate::commit::{CommitStep, PlannedFile, ReplacedFile, execute_steps};
    use crate::disk::{Disk, RealDisk};

    #[test]
    fn what_somebody_did_after_an_operation_is_no_reason_to_take_it_back() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let path = |name: &str| format!("categories/inbox/{name}.md");
        disk.write(&path("changed"), b"former").unwrap();
        let step = |name: &str, before: Option<&[u8]>, after: &[u8]| CommitStep {
            id: MemoryId::for_path(name),
            before: before.map(|bytes| ReplacedFile { path: path(name), hash: ContentHash::from_bytes(bytes) }),
            after: Some(PlannedFile { path: path(name), bytes: after.to_vec() }),
            why: None,
        };
        let id = CountingIds::default().operation_id();
        let operation = Operation { id, verb: Verb::Import, by: "test".into(), at: chrono::DateTime::UNIX_EPOCH };
        let steps = [step("kept", None, b"kept"), step("deleted", None, b"deleted"), step("changed", Some(b"former"), b"new")];
        execute_steps(&disk, &operation, None, &steps).unwrap();

        disk.remove(&path("deleted")).unwrap();
        disk.write(&path("changed"), b"former").unwrap();
        // Without the index, the operation is not known to be complete.
        recover(&disk, None).unwrap();

        let text = |name: &str| disk.read(&path(name)).unwrap().map(|(bytes, _)| bytes);
        assert_eq!([text("kept"), text("deleted"), text("changed")], [Some(b"kept".to_vec()), None, Some(b"former".to_vec())]);
        assert_eq!(journal(&disk).operations().unwrap().count(), 1);
    }
}
