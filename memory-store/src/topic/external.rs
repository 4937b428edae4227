//! Changes of topics by programs that do not use this store, such as the client of an agent.
//!
//! In a watched folder, `.seen/` contains a copy of each topic. A difference between a topic and its copy is a change by
//! another program. It is recorded as an operation, with the copy as the previous file, so that it can be undone.
//!
//! The copy is the only previous version, so it is replaced only after the change is in the log.

use std::collections::BTreeSet;

use memory_core::topic::{TopicError, TopicName};
use memory_core::{Operation, Recorded};

use super::error::{read_error, write_error};
use super::files::read_bytes;
use super::index;
use super::list::list_topics;
use super::trash::{self, TopicFileLine, TopicPayload};
use crate::disk::Disk;
use crate::oplog::{Durability, hash_bytes};

/// The folder of the copies. Only a watched folder has it.
const FOLDER: &str = ".seen";

/// The file that keeps the copies out of git.
const IGNORE_FILE: &str = ".seen/.gitignore";

/// The temporary file of a copy.
const TEMP_FILE: &str = ".seen/.copy.tmp";

/// Maximum size of a watched topic; larger files are not copied.
const MAX_BYTES: u64 = 1024 * 1024;

/// Returns whether a folder is watched.
pub(super) fn is_watched(disk: &dyn Disk) -> Result<bool, TopicError> {
    disk.stat(IGNORE_FILE)
        .map(|found| found.is_some())
        .map_err(read_error(FOLDER))
}

/// Returns whether a folder has copies, even if it is no longer watched because [`unwatch`] was interrupted.
pub(super) fn has_copies(disk: &dyn Disk) -> Result<bool, TopicError> {
    disk.stat(FOLDER)
        .map(|found| found.is_some())
        .map_err(read_error(FOLDER))
}

/// Starts to watch a folder: its present topics are the state to compare with. The caller holds the lock.
pub(super) fn watch(disk: &dyn Disk) -> Result<(), TopicError> {
    find_changes(disk)?
        .iter()
        .try_for_each(|change| copy(disk, &change.path, change.after.as_deref()))?;
    // This file is written last: with only a part of the copies, existing topics would count as new.
    disk.write(IGNORE_FILE, b"*\n")
        .map_err(write_error(IGNORE_FILE))
}

/// Stops watching a folder. The caller holds the lock and has recorded the changes.
pub(super) fn unwatch(disk: &dyn Disk) -> Result<(), TopicError> {
    if is_watched(disk)? {
        // This file is removed first, for the reason in `watch`.
        disk.remove(IGNORE_FILE).map_err(write_error(IGNORE_FILE))?;
    }
    for entry in disk.list_folder(FOLDER).map_err(read_error(FOLDER))? {
        let path = format!("{FOLDER}/{}", entry.name);
        disk.remove(&path).map_err(write_error(&path))?;
    }
    disk.remove_folder(FOLDER).map_err(write_error(FOLDER))
}

/// Records the changes since the copies were made as one operation; returns whether there are any.
///
/// The caller holds the lock.
pub(super) fn record(
    disk: &dyn Disk,
    operation: &mut dyn FnMut() -> Operation,
) -> Result<bool, TopicError> {
    let found = find_changes(disk)?;
    if found.is_empty() {
        return Ok(false);
    }
    // A writer that was interrupted after its line was appended did not update the copies.
    let last = trash::log(disk).operations()?.next().transpose()?;
    let recorded = last.map(|last| last.subject.files).unwrap_or_default();
    let is_recorded = |change: &ExternalChange| {
        recorded
            .iter()
            .any(|file| file.path == change.path && file.after == change.after_hash())
    };
    let (recorded, changes): (Vec<_>, Vec<_>) = found.into_iter().partition(is_recorded);
    recorded
        .iter()
        .try_for_each(|change| copy(disk, &change.path, change.after.as_deref()))?;
    if changes.is_empty() {
        return Ok(false);
    }
    let operation = operation();
    index::adopt_index(disk, &operation)?;
    let folder = trash::log(disk).trash_folder(&operation);
    let mut files = Vec::new();
    for change in &changes {
        let ExternalChange { path, before, .. } = change;
        let trash = before.as_ref().map(|_| format!("{folder}/{path}"));
        if let Some(trash) = &trash {
            disk.hard_link(&copy_path(path), trash)
                .map_err(write_error(trash))?;
        }
        files.push(TopicFileLine {
            path: path.clone(),
            before: before.clone(),
            trash,
            after: change.after_hash(),
        });
    }
    if files.iter().any(|file| file.trash.is_some()) {
        disk.sync_folder(&folder).map_err(write_error(&folder))?;
    }
    let payload = TopicPayload { files, index: None };
    let record = Recorded::new(&operation, payload, None);
    trash::log(disk).append(&record, Durability::Synced)?;
    changes
        .iter()
        .try_for_each(|change| copy(disk, &change.path, change.after.as_deref()))?;
    Ok(true)
}

/// Updates the copies of the topics that an operation of this store changed, if the folder is watched.
///
/// Other topics are not copied: another program may have changed them, and that is not recorded yet. The caller holds the lock.
pub(super) fn copy_changed<'a>(
    disk: &dyn Disk,
    files: impl Iterator<Item = (&'a str, Option<&'a [u8]>)>,
) -> Result<(), TopicError> {
    if !is_watched(disk)? {
        return Ok(());
    }
    let is_topic = |path: &str| {
        path.parse::<TopicName>()
            .is_ok_and(|name| name.as_str() == path)
    };
    let is_small =
        |content: Option<&[u8]>| content.is_none_or(|bytes| bytes.len() as u64 <= MAX_BYTES);
    for (path, content) in files.filter(|(path, content)| is_topic(path) && is_small(*content)) {
        copy(disk, path, content)?;
    }
    Ok(())
}

/// A difference between a topic and its copy.
struct ExternalChange {
    path: String,
    /// The hash of the copy.
    before: Option<String>,
    /// The present content.
    after: Option<Vec<u8>>,
}

impl ExternalChange {
    fn after_hash(&self) -> Option<String> {
        self.after.as_deref().map(hash_bytes)
    }
}

fn find_changes(disk: &dyn Disk) -> Result<Vec<ExternalChange>, TopicError> {
    let copies = disk.list_folder(FOLDER).map_err(read_error(FOLDER))?;
    let names = copies
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| !name.starts_with('.'));
    let topics = list_topics(disk)?
        .topics
        .into_iter()
        .map(|topic| topic.name.as_str().to_owned());
    let mut changes = Vec::new();
    for path in names.chain(topics).collect::<BTreeSet<String>>() {
        let found = disk.stat(&path).map_err(read_error(&path))?;
        let after = match found {
            Some(found) if !found.is_folder && MAX_BYTES < found.size => continue,
            Some(found) if !found.is_folder => match read_bytes(disk, &path) {
                Err(TopicError::Outside { .. }) => None,
                read => read?,
            },
            // A folder or a link to a file outside is not a topic.
            _ => None,
        };
        let before = disk
            .read(&copy_path(&path))
            .map_err(read_error(&path))?
            .map(|(bytes, _)| bytes);
        if before != after {
            changes.push(ExternalChange {
                path,
                before: before.as_deref().map(hash_bytes),
                after,
            });
        }
    }
    Ok(changes)
}

/// Makes the copy of a topic equal to it. The previous copy may have a second path in the trash, so it is replaced.
fn copy(disk: &dyn Disk, path: &str, after: Option<&[u8]>) -> Result<(), TopicError> {
    let path = copy_path(path);
    let done = match after {
        Some(bytes) => disk
            .write(TEMP_FILE, bytes)
            .and_then(|()| disk.sync_file(TEMP_FILE))
            .and_then(|()| disk.rename(TEMP_FILE, &path)),
        None => match disk.stat(&path) {
            Ok(Some(_)) => disk.remove(&path),
            found => found.map(drop),
        },
    };
    done.map_err(write_error(&path))
}

fn copy_path(path: &str) -> String {
    format!("{FOLDER}/{path}")
}
