//! The progress of a change.

use std::io;

use memory_core::{ContentHash, RecordedChange};

use crate::disk::Disk;

/// The progress of a change, judged only by the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeProgress {
    /// Every file is in the previous state.
    Open,
    /// The new file exists, and the previous one still does.
    Halfway,
    /// Every file is in the new state.
    Done,
    /// Another program has changed the file since.
    Foreign,
}

/// Returns the progress of `change`.
pub(super) fn change_progress(disk: &dyn Disk, change: &RecordedChange) -> io::Result<ChangeProgress> {
    let before = change.before.as_ref();
    let after = change.after.as_ref();
    let is_move = before.zip(after).is_some_and(|(before, after)| before.path != after.path);
    let former_is_there = match before {
        Some(before) => file_hash(disk, &before.path)? == Some(before.hash),
        None => false,
    };
    let Some(after) = after else {
        let Some(path) = before.map(|before| before.path.as_str()) else { return Ok(ChangeProgress::Foreign) };
        return Ok(match (former_is_there, file_hash(disk, path)?) {
            (true, _) => ChangeProgress::Open,
            (false, None) => ChangeProgress::Done,
            (false, Some(_)) => ChangeProgress::Foreign,
        });
    };
    let new = file_hash(disk, &after.path)?;
    Ok(match new {
        Some(hash) if hash == after.hash => {
            if is_move && former_is_there {
                ChangeProgress::Halfway
            } else {
                ChangeProgress::Done
            }
        }
        _ if former_is_there => ChangeProgress::Open,
        None if before.is_none() => ChangeProgress::Open,
        _ => ChangeProgress::Foreign,
    })
}

/// Returns the hash of a file, if it exists.
pub(super) fn file_hash(disk: &dyn Disk, path: &str) -> io::Result<Option<ContentHash>> {
    match disk.read(path) {
        Ok(read) => Ok(read.map(|(bytes, _)| ContentHash::from_bytes(&bytes))),
        // The store never writes such a large file, so it belongs to another program.
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(Some(ContentHash::from([0; 32]))),
        Err(error) => Err(error),
    }
}
