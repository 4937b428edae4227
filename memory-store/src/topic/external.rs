//! Changes of topics by programs that do not use this store, such as the client of an agent.
//!
//! In a watched folder, `.seen/` contains a copy of each topic. A difference between a topic and its copy is a change by
//! another program. It is recorded as an operation, with the copy as the previous file, so that it can be undone.

use std::collections::BTreeSet;

use memory_core::topic::TopicError;
use memory_core::{Operation, Recorded};

use super::error::{read_error, write_error};
use super::files::read_bytes;
use super::list::list_topics;
use super::trash::{self, TopicFileLine, TopicPayload};
use crate::disk::Disk;
use crate::oplog::hash_bytes;

/// The folder of the copies. Only a watched folder has it.
const FOLDER: &str = ".seen";

/// The file that keeps the copies out of git.
const IGNORE_FILE: &str = ".seen/.gitignore";

/// The temporary file of a copy.
const TEMP_FILE: &str = ".seen/.copy.tmp";

/// Maximum size of a watched topic; larger files are not copied.
const MAX_BYTES: usize = 1024 * 1024;

/// Returns whether a folder is watched.
pub(super) fn is_watched(disk: &dyn Disk) -> Result<bool, TopicError> {
    disk.stat(IGNORE_FILE).map(|found| found.is_some()).map_err(|error| read_error(FOLDER, error))
}

/// Starts to watch a folder: its present topics are the state to compare with. The caller holds the lock.
pub(super) fn watch(disk: &dyn Disk) -> Result<(), TopicError> {
    disk.write(IGNORE_FILE, b"*\n").map_err(write_error(IGNORE_FILE))?;
    copy_topics(disk)
}

/// Stops watching a folder. The caller holds the lock.
pub(super) fn unwatch(disk: &dyn Disk) -> Result<(), TopicError> {
    for entry in disk.list_folder(FOLDER).map_err(|error| read_error(FOLDER, error))? {
        let path = format!("{FOLDER}/{}", entry.name);
        disk.remove(&path).map_err(write_error(&path))?;
    }
    disk.remove_folder(FOLDER).map_err(write_error(FOLDER))
}

/// Records the changes since the copies were made as one operation; returns whether there are any.
///
/// The caller holds the lock.
pub(super) fn record(disk: &dyn Disk, operation: &mut dyn FnMut() -> Operation) -> Result<bool, TopicError> {
    let changes = find_changes(disk)?;
    if changes.is_empty() {
        return Ok(false);
    }
    let operation = operation();
    let folder = trash::log(disk).trash_folder(&operation);
    let mut files = Vec::new();
    for ExternalChange { path, before, after } in &changes {
        let trash = before.as_ref().map(|_| format!("{folder}/{path}"));
        if let Some(trash) = &trash {
            disk.hard_link(&copy_path(path), trash).map_err(write_error(trash))?;
        }
        files.push(TopicFileLine { path: path.clone(), before: before.clone(), trash, after: after.as_deref().map(hash_bytes) });
    }
    if files.iter().any(|file| file.trash.is_some()) {
        disk.sync_folder(&folder).map_err(write_error(&folder))?;
    }
    let payload = TopicPayload { files, index: None };
    trash::log(disk).append(&Recorded::new(&operation, payload, None)).map_err(write_error(trash::FOLDER))?;
    changes.iter().try_for_each(|change| copy(disk, change))?;
    Ok(true)
}

/// Updates all copies, after a change by this store. The caller holds the lock.
pub(super) fn copy_topics(disk: &dyn Disk) -> Result<(), TopicError> {
    find_changes(disk)?.iter().try_for_each(|change| copy(disk, change))
}

/// A difference between a topic and its copy.
struct ExternalChange {
    path: String,
    /// The hash of the copy.
    before: Option<String>,
    /// The present content.
    after: Option<Vec<u8>>,
}

fn find_changes(disk: &dyn Disk) -> Result<Vec<ExternalChange>, TopicError> {
    let copies = disk.list_folder(FOLDER).map_err(|error| read_error(FOLDER, error))?;
    let names = copies.into_iter().map(|entry| entry.name).filter(|name| !name.starts_with('.'));
    let topics = list_topics(disk)?.topics.into_iter().map(|topic| topic.name.as_str().to_owned());
    let mut changes = Vec::new();
    for path in names.chain(topics).collect::<BTreeSet<String>>() {
        let before = disk.read(&copy_path(&path)).map_err(|error| read_error(&path, error))?.map(|(bytes, _)| bytes);
        let after = read_bytes(disk, &path)?;
        if before != after && after.as_ref().is_none_or(|bytes| bytes.len() <= MAX_BYTES) {
            changes.push(ExternalChange { path, before: before.as_deref().map(hash_bytes), after });
        }
    }
    Ok(changes)
}

/// Makes the copy of a topic equal to it. The previous copy may have a second path in the trash, so it is replaced.
fn copy(disk: &dyn Disk, change: &ExternalChange) -> Result<(), TopicError> {
    let path = copy_path(&change.path);
    let done = match &change.after {
        Some(bytes) => {
            disk.write(TEMP_FILE, bytes).and_then(|()| disk.sync_file(TEMP_FILE)).and_then(|()| disk.rename(TEMP_FILE, &path))
        }
        None => disk.remove(&path),
    };
    done.map_err(write_error(&path))
}

fn copy_path(path: &str) -> String {
    format!("{FOLDER}/{path}")
}
