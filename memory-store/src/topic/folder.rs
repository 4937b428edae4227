//! The store of topics in a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use memory_core::secret::Checked;
use memory_core::topic::{
    PathEntry, TopicChange, TopicChangeResult, TopicError, TopicIndex, TopicListing, TopicName,
    TopicPath, TopicRecord, TopicStore, TopicText, TopicUsages, TrashedTopic, is_same_name,
};
use memory_core::{LocalZone, Operation, OperationId, StoreError};

use super::change::{TopicFileChange, apply_changes, is_interrupted, recover, undo};
use super::error::{damaged_error, open_error, read_error, with_full_path};
use super::files::{TopicFolderContents, decode_text, list_below, read_bytes, read_text};
use super::{external, format, index, list, trash, uses};
use crate::disk::{Disk, LazyDisk, parent_folder};
use crate::error::io_error;
use crate::lock::{PATIENCE, WriterLock};
use crate::markdown::lossy_text;
use crate::oplog::{hash_bytes, not_found_error};
use crate::store_folder::StoreFolder;

/// Maximum number of attempts when another program changes the file during a change.
const MAX_ATTEMPTS: usize = 3;

/// Maximum number of bytes that one operation moves.
const MAX_MOVED_BYTES: usize = 64 * 1024 * 1024;

/// A folder of topics, which is created when the first topic is written.
#[derive(Debug)]
pub struct TopicFolder {
    place: StoreFolder,
    patience: Duration,
    /// The zone of the days on which topics are updated.
    zone: LocalZone,
}

impl TopicFolder {
    /// Returns the store of the folder `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self::in_folder(StoreFolder::new(LazyDisk::new(root.into())))
    }

    /// Returns the store of the folder `root` of a project, which must not be a symlink.
    pub fn in_project(root: impl Into<PathBuf>) -> Self {
        Self::in_folder(StoreFolder::new(LazyDisk::in_project(root.into(), 1)))
    }

    /// Sets the time zone of the days on which topics are updated; the default is UTC.
    #[must_use]
    pub fn in_zone(self, zone: LocalZone) -> Self {
        Self { zone, ..self }
    }

    /// Returns the store of the folder `root`, which is accessed through `disk`.
    pub fn with_disk(root: impl Into<PathBuf>, disk: Arc<dyn Disk>) -> Self {
        Self::in_folder(StoreFolder::new(LazyDisk::on_disk(root.into(), disk)))
    }

    pub(crate) fn in_folder(place: StoreFolder) -> Self {
        Self {
            place,
            patience: PATIENCE,
            zone: LocalZone::utc(),
        }
    }

    /// Copies the topics in the folder at `source` to the database of this replica, with their history, and returns the number of files.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the folder is not a replica, or if the database contains other topics; or if the database cannot be
    /// reached.
    pub fn copy_files(&self, source: &Path) -> Result<usize, StoreError> {
        self.place.copy_files(source)
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    /// Returns the disk with the changes of other nodes, or `None` if the folder does not exist.
    fn disk(&self) -> Result<Option<&dyn Disk>, TopicError> {
        self.place.catch_up(self.patience)?;
        self.place.get().map_err(read_error(&self.location()))
    }

    /// Waits for the lock, recovers from an interrupted operation, and runs `work`.
    ///
    /// `operation` is `None` if `work` changes only the trash, or adopts the index itself.
    fn write<T>(
        &self,
        operation: Option<&Operation>,
        mut work: impl FnMut(&dyn Disk) -> Result<T, TopicError>,
    ) -> Result<T, TopicError> {
        let place = self.location();
        let told = |error| open_error(&place, error);
        let disk = self
            .place
            .get_or_create()
            .map_err(|error| told(io_error(format!("open {place}"), error)))?;
        self.place.write(disk, self.patience, |disk| {
            let _lock = WriterLock::acquire(disk, self.root(), self.patience).map_err(told)?;
            let meet = || operation.map_or(Ok(()), |operation| index::adopt_index(disk, operation));
            let done = recover(disk)
                .and_then(|()| meet())
                .and_then(|()| work(disk));
            done.map_err(|error| with_full_path(&place, error))
        })
    }

    /// Starts to watch the folder for changes by other programs; [`TopicStore::record_external_changes`] records them.
    ///
    /// The folder is created if it does not exist. The present topics count as unchanged; in a folder that is already
    /// watched, changes are recorded as `operation`.
    ///
    /// # Errors
    /// If the folder cannot be read or written.
    pub fn watch(&self, operation: &mut dyn FnMut() -> Operation) -> Result<(), TopicError> {
        self.write(None, |disk| {
            if external::is_watched(disk)? {
                self.record(disk, operation).map(drop)
            } else {
                external::watch(disk)
            }
        })
    }

    /// Stops watching the folder, after changes are recorded as `operation`. Recorded changes remain.
    ///
    /// # Errors
    /// If the folder cannot be read or written, or the changes cannot be recorded. The folder is still watched then.
    pub fn unwatch(&self, operation: &mut dyn FnMut() -> Operation) -> Result<(), TopicError> {
        match self.disk()? {
            Some(disk) if external::has_copies(disk)? => self.write(None, |disk| {
                if external::is_watched(disk)? {
                    self.record(disk, operation)?;
                }
                external::unwatch(disk)
            }),
            _ => Ok(()),
        }
    }

    /// Records changes by other programs, and updates the index if there are any. The caller holds the lock.
    fn record(
        &self,
        disk: &dyn Disk,
        operation: &mut dyn FnMut() -> Operation,
    ) -> Result<bool, TopicError> {
        let is_changed = external::record(disk, operation)?;
        if is_changed {
            self.update_index(disk);
        }
        Ok(is_changed)
    }

    /// Updates the index, and returns the error message if that fails.
    fn update_index(&self, disk: &dyn Disk) -> Option<String> {
        let done = index::rebuild(disk, &uses::read_uses(disk))
            .map_err(|error| with_full_path(&self.location(), error));
        done.err().map(|error| error.to_string())
    }
}

/// Returns whether a replica of the folder shares a file.
#[cfg(feature = "postgres")]
pub(crate) fn is_shared(path: &str) -> bool {
    crate::store_folder::is_visible(path)
        || path == index::GENERATED_FILE
        || crate::store_folder::is_in_log_folder(path, trash::FOLDER)
}

impl TopicStore for TopicFolder {
    fn location(&self) -> String {
        self.root().display().to_string()
    }

    fn topics(&self) -> Result<TopicListing, TopicError> {
        self.disk()?
            .map_or_else(|| Ok(TopicListing::default()), list::list_topics)
    }

    fn text(&self, path: &TopicPath) -> Result<Option<TopicText>, TopicError> {
        self.disk()?.map_or(Ok(None), |disk| read_text(disk, path))
    }

    fn entries(&self, folder: Option<&TopicPath>) -> Result<Option<Vec<PathEntry>>, TopicError> {
        let nothing = || Ok(folder.is_none().then(Vec::new));
        self.disk()?
            .map_or_else(nothing, |disk| list::list_entries(disk, folder))
    }

    fn index(&self) -> Result<Option<TopicIndex>, TopicError> {
        self.disk()?.map_or(Ok(None), index::read)
    }

    fn usages(&self) -> TopicUsages {
        self.disk()
            .ok()
            .flatten()
            .map(uses::read_uses)
            .unwrap_or_default()
    }

    fn count_use(&self, name: &TopicName, at: DateTime<Utc>) {
        if let Ok(Some(disk)) = self.disk() {
            uses::count(disk, name, at);
        }
    }

    fn change(
        &self,
        path: &TopicPath,
        operation: &Operation,
        decide: &mut dyn FnMut(Option<&TopicText>) -> Result<TopicChange, TopicError>,
    ) -> Result<TopicChangeResult, TopicError> {
        let today = operation.at.with_timezone(&self.zone).date_naive();
        // The folder is created only for a change that succeeds.
        if self.disk()?.is_none() && text_after(None, decide(None)?, today)?.is_none() {
            return Ok(TopicChangeResult::No);
        }
        self.write(Some(operation), |disk| {
            for _ in 0..MAX_ATTEMPTS {
                let before = read_bytes(disk, path.as_str())?;
                let former = before.as_deref().map(|bytes| decode_text(path, bytes));
                let fault = before.as_deref().and_then(|bytes| lossy_text(bytes).1);
                let change = match (decide(former.as_ref()), fault) {
                    // Only a complete draft may replace a file that is not text.
                    (Ok(TopicChange::Topic(draft)), Some(fault)) if !draft.is_whole() => {
                        return Err(TopicError::UnreadableHeader {
                            name: path.to_string(),
                            what: fault,
                        });
                    }
                    (Ok(change @ TopicChange::Topic(_)), Some(_)) => change,
                    (_, Some(fault)) => return Err(damaged_error(path.as_str(), fault)),
                    (change, None) => change?,
                };
                let after = text_after(former.as_ref(), change, today)?.map(String::into_bytes);
                if after == before {
                    return Ok(TopicChangeResult::No);
                }
                if before.is_none() {
                    check_path_free(disk, path, None)?;
                }
                let (like, before) = (
                    before.as_ref().map(|_| path.to_string()),
                    before.as_deref().map(hash_bytes),
                );
                let file = TopicFileChange {
                    path: path.to_string(),
                    before,
                    after,
                    like,
                };
                if apply_changes(disk, operation, None, &[file])? {
                    return Ok(TopicChangeResult::Yes {
                        stale_index: self.update_index(disk),
                    });
                }
            }
            Err(TopicError::Conflict {
                name: path.to_string(),
            })
        })
    }

    fn relocate(
        &self,
        from: &TopicPath,
        to: Option<Checked<&TopicPath>>,
        operation: &Operation,
    ) -> Result<(), TopicError> {
        let to = to.map(Checked::into_inner);
        if self.disk()?.is_none() {
            return Err(TopicError::not_found(from.as_str()));
        }
        self.write(Some(operation), |disk| {
            let TopicFolderContents { files, folders } = find_files(disk, from)?;
            if let Some(to) = to {
                check_path_free(disk, to, Some(from))?;
            }
            let (mut changes, mut moved) = (Vec::new(), 0);
            for path in files {
                // The file was deleted since the folder was listed.
                let Some(bytes) = read_bytes(disk, &path)? else {
                    return Err(TopicError::Conflict { name: path });
                };
                moved += bytes.len();
                let before = Some(hash_bytes(&bytes));
                if MAX_MOVED_BYTES < moved {
                    return Err(TopicError::TooLarge {
                        what: format!("{from} has more than {MAX_MOVED_BYTES} bytes"),
                    });
                }
                if let Some(to) = to {
                    let place = format!("{to}{}", &path[from.as_str().len()..]);
                    let (after, like) = (Some(bytes), Some(path.clone()));
                    changes.push(TopicFileChange {
                        path: place,
                        before: None,
                        after,
                        like,
                    });
                }
                changes.push(TopicFileChange {
                    path,
                    before,
                    after: None,
                    like: None,
                });
            }
            if !changes.is_empty() && !apply_changes(disk, operation, None, &changes)? {
                return Err(TopicError::Conflict {
                    name: from.to_string(),
                });
            }
            remove_empty_folders(
                disk,
                folders
                    .iter()
                    .rev()
                    .map(String::as_str)
                    .chain([parent_folder(from.as_str())]),
            );
            self.update_index(disk);
            Ok(())
        })
    }

    fn rebuild(&self, operation: &Operation) -> Result<TopicChangeResult, TopicError> {
        let is_changed = self.write(Some(operation), |disk| {
            index::rebuild(disk, &uses::read_uses(disk))
        })?;
        Ok(if is_changed {
            TopicChangeResult::Yes { stale_index: None }
        } else {
            TopicChangeResult::No
        })
    }

    fn record_external_changes(
        &self,
        operation: &mut dyn FnMut() -> Operation,
    ) -> Result<bool, TopicError> {
        if !self.disk()?.map_or(Ok(false), external::is_watched)? {
            return Ok(false);
        }
        self.write(None, |disk| self.record(disk, operation))
    }

    fn history(&self) -> Result<Vec<TopicRecord>, TopicError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        if is_interrupted(disk)? {
            // An interrupted operation is rolled back first. If the folder is read-only, the log is returned as it is.
            let _ = self.write(None, |_| Ok(()));
        }
        trash::log(disk).records()
    }

    fn trashed(&self) -> Result<Vec<TrashedTopic>, TopicError> {
        self.disk()?
            .map_or_else(|| Ok(Vec::new()), trash::list_trashed)
    }

    fn undo(&self, undone: &OperationId, operation: &Operation) -> Result<TopicRecord, TopicError> {
        if self.disk()?.is_none() {
            return Err(not_found_error(undone).into());
        }
        self.write(Some(operation), |disk| {
            let record = undo(disk, undone, operation)?;
            remove_empty_folders(
                disk,
                record.subject.files.iter().map(|path| parent_folder(path)),
            );
            self.update_index(disk);
            Ok(record)
        })
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), TopicError> {
        if self.disk()?.is_none() {
            return Ok((0, 0));
        }
        self.write(None, |disk| trash::log(disk).purge(before))
    }
}

/// Returns the text of a file after a change, or `None` if the file is deleted.
fn text_after(
    former: Option<&TopicText>,
    change: TopicChange,
    today: NaiveDate,
) -> Result<Option<String>, TopicError> {
    Ok(match change {
        TopicChange::Keep => former.map(|former| former.text.clone()),
        TopicChange::Text(text) => Some(text.into_inner()),
        TopicChange::Revised(text) => {
            former.map_or(Ok(()), |former| format::check_revision(former, &text))?;
            Some(format::set_updated_date(text.into_inner(), today))
        }
        TopicChange::Topic(draft) => Some(format::apply_draft(former, &draft, today)?),
        TopicChange::Remove => None,
    })
}

/// Returns the file at a path, or everything below the folder at the path.
fn find_files(disk: &dyn Disk, path: &TopicPath) -> Result<TopicFolderContents, TopicError> {
    let told = read_error(path.as_str());
    let signature = disk.stat(path.as_str()).map_err(told)?;
    match signature {
        Some(found) if found.is_folder => list_below(disk, path.as_str()),
        Some(_) if read_bytes(disk, path.as_str())?.is_some() => Ok(TopicFolderContents {
            files: vec![path.to_string()],
            folders: Vec::new(),
        }),
        _ => {
            // A symlink has no signature, so the file is read to obtain the error for it.
            disk.read_part(path.as_str(), 0, 1).map_err(told)?;
            Err(TopicError::not_found(path.as_str()))
        }
    }
}

/// Returns an error if something exists at a new path, or at a path that some systems treat as equal.
///
/// The path `leaving` is about to be moved and does not count.
fn check_path_free(
    disk: &dyn Disk,
    path: &TopicPath,
    leaving: Option<&TopicPath>,
) -> Result<(), TopicError> {
    let told = read_error(path.as_str());
    let taken = |other| {
        Err(TopicError::Taken {
            name: path.to_string(),
            other,
        })
    };
    if disk.stat(path.as_str()).map_err(told)?.is_some() {
        return taken(None);
    }
    disk.read_part(path.as_str(), 0, 1).map_err(told)?;
    let mut place = Some(path.clone());
    while let Some(own) = place {
        let folder = parent_folder(own.as_str());
        let name = own.as_str().rsplit('/').next().unwrap_or_default();
        for entry in disk.list_folder(folder).map_err(told)? {
            let whole = if folder.is_empty() {
                entry.name.clone()
            } else {
                format!("{folder}/{}", entry.name)
            };
            let is_leaving = leaving.is_some_and(|leaving| leaving.as_str() == whole);
            if entry.name != name && !is_leaving && is_same_name(&entry.name, name) {
                return taken(Some(whole));
            }
        }
        place = own.parent();
        if let Some(parent) = &place
            && disk
                .stat(parent.as_str())
                .map_err(told)?
                .is_some_and(|found| !found.is_folder)
        {
            return Err(TopicError::InTheWay {
                name: parent.to_string(),
            });
        }
    }
    Ok(())
}

/// Removes empty folders and their empty parents. A folder that cannot be removed does no harm.
fn remove_empty_folders<'p>(disk: &dyn Disk, folders: impl Iterator<Item = &'p str>) {
    for mut folder in folders {
        while !folder.is_empty() && disk.remove_folder(folder).is_ok() {
            folder = parent_folder(folder);
        }
    }
}
