//! Taking back what was interrupted.

use std::collections::{BTreeSet, HashSet};
use std::io;

use chrono::{DateTime, Utc};
use memory_core::{OperationId, RecordedChange, RecordedFile, StoreError};

use super::status::{Status, status};
use super::{folder_of, waiting_path};
use crate::disk::Disk;
use crate::error::io_error;
use crate::journal::{Journal, Line, Mark, What};

/// Looks whether the last operation after `mark` was interrupted, and if so takes back the part of it that was done.
///
/// The caller holds the writer lock; so an operation that is not complete is not under way either.
pub(crate) fn recover(disk: &dyn Disk, journal: &Journal, mark: Option<&Mark>) -> Result<(), StoreError> {
    let mut aborted = HashSet::new();
    for Line { id, at, what } in journal.lines_after(mark)? {
        match what {
            What::Aborted => {
                aborted.insert(id);
            }
            What::Begun { .. } if aborted.remove(&id) => {}
            What::Begun { changes, .. } => {
                // Only the last one can be incomplete: each writer looks before it begins.
                let refused = |error| io_error(format!("check operation {id}"), error);
                return if was_interrupted(disk, &id, &changes).map_err(refused)? {
                    roll_back(disk, journal, &id, at, &changes)
                } else {
                    Ok(())
                };
            }
        }
    }
    Ok(())
}

/// Tells whether an operation was left half done.
///
/// That some of its files are as they were before is not enough: since it was done, somebody may have deleted one of them
/// or put a former one back, and the others must not be taken away for that. What an interruption leaves behind is the new
/// bytes that wait for their place, or a former file that still has to go.
fn was_interrupted(disk: &dyn Disk, id: &OperationId, changes: &[RecordedChange]) -> io::Result<bool> {
    let (mut is_begun, mut is_open) = (false, false);
    for change in changes {
        match status(disk, change)? {
            Status::Halfway => return Ok(true),
            Status::Done => is_begun = true,
            Status::Foreign => {}
            Status::Open => match &change.after {
                Some(after) if disk.signature(&waiting_path(&after.path, id))?.is_none() => is_open = true,
                _ => return Ok(true),
            },
        }
    }
    Ok(is_open && !is_begun)
}

/// Puts every file of an operation back as it was, and says so in the journal.
pub(crate) fn roll_back(
    disk: &dyn Disk,
    journal: &Journal,
    id: &OperationId,
    at: DateTime<Utc>,
    changes: &[RecordedChange],
) -> Result<(), StoreError> {
    put_back(disk, id, changes).map_err(|error| io_error(format!("take back operation {id}"), error))?;
    journal.abort(id, at)
}

fn put_back(disk: &dyn Disk, id: &OperationId, changes: &[RecordedChange]) -> io::Result<()> {
    let mut folders = BTreeSet::new();
    // Whatever shows that the operation was interrupted goes last, lest this be interrupted as well.
    for stage in [Status::Done, Status::Halfway] {
        for change in changes.iter().rev() {
            if status(disk, change)? == stage {
                folders.extend(restore(disk, id, change)?);
            }
        }
    }
    folders.iter().try_for_each(|folder| disk.sync_folder(folder))?;
    for after in changes.iter().filter_map(|change| change.after.as_ref()) {
        disk.remove(&waiting_path(&after.path, id))?;
    }
    for change in changes {
        // Where the former file lives again, what the trash holds of it is no former version. Where somebody else has
        // put another in its place, it is.
        let trash = change.before.as_ref().and_then(|former| former.trash.as_ref());
        if let Some(trash) = trash.filter(|_| matches!(status(disk, change), Ok(Status::Open))) {
            disk.remove(trash)?;
            disk.remove_folder(folder_of(trash))?;
        }
    }
    Ok(())
}

/// Makes the former file of a change live again; returns the folders whose names changed.
fn restore(disk: &dyn Disk, id: &OperationId, change: &RecordedChange) -> io::Result<Vec<String>> {
    let mut folders = Vec::new();
    let takes_its_place = |after: &RecordedFile| change.before.as_ref().is_some_and(|before| before.path == after.path);
    let moves = change.after.as_ref().is_some_and(|after| !takes_its_place(after));
    let before = change.before.as_ref();
    // Where somebody else has put another file in the former place of one that moved, that stays.
    let is_taken = before.filter(|_| moves).map(|before| disk.signature(&before.path)).transpose()?.flatten().is_some();
    if let Some(before) = before.filter(|_| !is_taken) {
        let trash = before.trash.as_deref().unwrap_or_default();
        let Some((bytes, _)) = disk.read(trash)? else {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{trash} is gone")));
        };
        let waiting = waiting_path(&before.path, id);
        disk.write(&waiting, &bytes)?;
        disk.sync_file(&waiting)?;
        disk.rename(&waiting, &before.path)?;
        folders.push(folder_of(&before.path).to_owned());
    }
    if let Some(after) = change.after.as_ref().filter(|_| moves) {
        // What is in no folder any more must be in another one for good.
        folders.drain(..).try_for_each(|folder: String| disk.sync_folder(&folder))?;
        disk.remove(&after.path)?;
        folders.push(folder_of(&after.path).to_owned());
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use memory_core::{ContentHash, Duplicates, IdSource, MemoryId, Operation, Verb, testing::CountingIds};

    use super::recover;
    use crate::commit::{Former, Next, Step, carry_out};
    use crate::disk::{Disk, RealDisk};
    use crate::journal::{Journal, What};

    #[test]
    fn what_somebody_did_after_an_operation_is_no_reason_to_take_it_back() {
        let home = tempfile::tempdir().unwrap();
        let disk = Arc::new(RealDisk::open(home.path()).unwrap());
        let journal = Journal::new(Arc::clone(&disk) as Arc<dyn Disk>);
        let path = |name: &str| format!("categories/inbox/{name}.md");
        disk.write(&path("changed"), b"former").unwrap();
        let step = |name: &str, before: Option<&[u8]>, after: &[u8]| Step {
            id: MemoryId::of_path(name),
            before: before.map(|bytes| Former { path: path(name), hash: ContentHash::of_bytes(bytes) }),
            after: Some(Next { path: path(name), bytes: after.to_vec() }),
        };
        let operation = Operation {
            id: CountingIds::default().operation_id(),
            verb: Verb::Import,
            by: "test".into(),
            at: chrono::DateTime::UNIX_EPOCH,
            duplicates: Duplicates::Keep,
            changes: Vec::new(),
            reasons: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        let steps = [step("kept", None, b"kept"), step("deleted", None, b"deleted"), step("changed", Some(b"former"), b"new")];
        carry_out(disk.as_ref(), &journal, &operation, None, &steps).unwrap();

        disk.remove(&path("deleted")).unwrap();
        disk.write(&path("changed"), b"former").unwrap();
        // The index was deleted, so nobody knows that the operation was done.
        recover(disk.as_ref(), &journal, None).unwrap();

        let text = |name: &str| disk.read(&path(name)).unwrap().map(|(bytes, _)| bytes);
        assert_eq!([text("kept"), text("deleted"), text("changed")], [Some(b"kept".to_vec()), None, Some(b"former".to_vec())]);
        assert!(journal.lines().all(|line| line.unwrap().what != What::Aborted));
    }
}
