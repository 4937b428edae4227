//! The store of values in a folder.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SubsecRound, Utc};
use memory_core::instance::kv::{KeyPrefix, KeySummary, KeyValueStore, StoredValue, ValueKey};
use memory_core::instance::{InstanceError, InstanceOperations, InstanceRecord, InstanceRecords};
use memory_core::secret::Checked;
use memory_core::{Operation, OperationId};

use super::trash::{self, ValueOperation};
use crate::disk::{
    DirEntryKind, Disk, FileStat, LazyDisk, find_case_variant, parent_folder, stage_file,
};
use crate::history::{created, existing, file_error};
use crate::lock::{PATIENCE, WriterLock};
use crate::oplog::{SingleFileOperation, find_undoable, hash_bytes, not_found_error, to_records};
use crate::system::is_symlink_error;
use memory_core::text::windows_name_problem;

/// The temporary file of a new value. No key has this name, and there is one writer at a time.
const TEMP_FILE: &str = ".next~";

/// A folder of values, which is created when the first value is set.
#[derive(Debug)]
pub struct ValueFolder {
    place: LazyDisk,
    state: LazyDisk,
    patience: Duration,
}

impl ValueFolder {
    /// Returns the store of the folder `root`, which need not exist. Previous values go to `state`.
    pub fn new(root: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self {
            place: LazyDisk::new(root.into()),
            state: LazyDisk::new(state.into()),
            patience: PATIENCE,
        }
    }

    /// Returns the store of the folder `root` with the given disks.
    ///
    /// `disk` contains the values and `state` contains the previous values.
    pub fn with_disks(root: impl Into<PathBuf>, disk: Arc<dyn Disk>, state: Arc<dyn Disk>) -> Self {
        let place = LazyDisk::on_disk(root.into(), disk);
        Self {
            place,
            state: LazyDisk::on_disk(PathBuf::new(), state),
            patience: PATIENCE,
        }
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    fn disk(&self) -> Result<Option<&dyn Disk>, InstanceError> {
        existing(&self.place)
    }

    fn state(&self) -> Result<Option<&dyn Disk>, InstanceError> {
        existing(&self.state)
    }

    fn lock(&self) -> Result<WriterLock, InstanceError> {
        Ok(WriterLock::acquire_folder(self.root(), self.patience)?)
    }
}

impl KeyValueStore for ValueFolder {
    fn set(
        &self,
        key: &ValueKey,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError> {
        let mut is_new = false;
        self.set_value(key, value, operation, |former| {
            is_new = former.is_none();
            true
        })?;
        Ok(is_new)
    }

    fn replace(
        &self,
        key: &ValueKey,
        expected: Option<&str>,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError> {
        self.set_value(key, value, operation, |former| {
            former == expected.map(str::as_bytes)
        })
    }

    fn get(&self, key: &ValueKey) -> Result<Option<StoredValue>, InstanceError> {
        let told = file_error(key.as_str());
        let Some(disk) = self.disk()? else {
            return Ok(None);
        };
        let Some((bytes, signature)) = disk.read(key.as_str()).map_err(told)? else {
            return Ok(None);
        };
        if find_case_variant(disk, key.as_str())
            .map_err(told)?
            .is_some()
        {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|error| InstanceError::Damaged {
            place: self.root().join(key.as_str()).display().to_string(),
            what: format!(
                "it is not UTF-8 from byte {} on",
                error.utf8_error().valid_up_to()
            ),
        })?;
        Ok(Some(StoredValue {
            text,
            updated_at: modified_at(&signature),
        }))
    }

    fn delete(&self, key: &ValueKey, operation: &Operation) -> Result<bool, InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok(false);
        };
        let _lock = self.lock()?;
        let Some(former) = read_value(disk, key)? else {
            return Ok(false);
        };
        if find_case_variant(disk, key.as_str())
            .map_err(file_error(key.as_str()))?
            .is_some()
        {
            return Ok(false);
        }
        self.delete_value(
            disk,
            key,
            &former,
            ValueOperation {
                operation,
                undoes: None,
            },
        )?;
        Ok(true)
    }

    fn list(&self, prefix: &KeyPrefix) -> Result<Vec<KeySummary>, InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let mut keys = Vec::new();
        let mut folders = vec![prefix.namespace().to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match disk.list_folder(&folder) {
                Ok(entries) => entries,
                Err(error) => return Err(file_error(&folder)(error)),
            };
            for entry in entries {
                let path = if folder.is_empty() {
                    entry.name
                } else {
                    format!("{folder}/{}", entry.name)
                };
                // A file with an invalid name is not a key.
                let Ok(key) = path.parse::<ValueKey>() else {
                    continue;
                };
                match entry.kind {
                    DirEntryKind::Folder
                        if path.starts_with(prefix.as_str())
                            || prefix.as_str().starts_with(&path) =>
                    {
                        folders.push(path);
                    }
                    DirEntryKind::File if prefix.matches(&key) => {
                        // The file may have been deleted since the folder was listed.
                        let Some(found) = disk.stat(&path).map_err(file_error(&path))? else {
                            continue;
                        };
                        let updated_at = modified_at(&found);
                        keys.push(KeySummary {
                            key,
                            size_bytes: found.size,
                            updated_at,
                        });
                    }
                    DirEntryKind::File | DirEntryKind::Folder | DirEntryKind::Other => {}
                }
            }
        }
        keys.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(keys)
    }
}

impl InstanceOperations for ValueFolder {
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError> {
        match self.state()? {
            Some(state) => Ok(Box::new(to_records(trash::operations(state, |key| {
                self.current_hash(key)
            })?))),
            None => Ok(Box::new(std::iter::empty())),
        }
    }

    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<InstanceRecord, InstanceError> {
        let state = self.state()?.ok_or_else(|| not_found_error(undone))?;
        let disk = created(&self.place)?;
        let _lock = self.lock()?;
        let (logged, record) = find_undoable(
            trash::operations(state, |key| self.current_hash(key))?,
            undone,
        )?;
        let changed = |why: String| InstanceError::ChangedSince {
            operation: undone.clone(),
            why,
        };
        let key: ValueKey = logged.subject.key.parse()?;
        check_path_free(disk, &key).map_err(|error| match error {
            InstanceError::KeyTaken { why, .. } => changed(why),
            error => error,
        })?;
        let now = read_value(disk, &key)?;
        if now.as_deref().map(hash_bytes) != logged.subject.after {
            return Err(changed(format!("the key {key} was changed afterwards")));
        }
        let note = ValueOperation {
            operation,
            undoes: Some(undone),
        };
        match (trash::previous_value(state, &logged)?, now) {
            (Some(former), now) => {
                self.put_value(disk, &key, now.as_deref(), &former, Some(note))?;
            }
            (None, Some(now)) => self.delete_value(disk, &key, &now, note)?,
            (None, None) => {}
        }
        Ok(record)
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError> {
        let Some(state) = self.state()? else {
            return Ok((0, 0));
        };
        let _lock = self.disk()?.is_some().then(|| self.lock()).transpose()?;
        trash::log(state).purge(before)
    }
}

impl ValueFolder {
    /// Sets the value of a key if its current value `is_expected`, and returns whether it was; logs the operation if the value differs.
    fn set_value(
        &self,
        key: &ValueKey,
        value: Checked<&str>,
        operation: &Operation,
        is_expected: impl FnOnce(Option<&[u8]>) -> bool,
    ) -> Result<bool, InstanceError> {
        let disk = created(&self.place)?;
        let _lock = self.lock()?;
        check_path_free(disk, key)?;
        let former = read_value(disk, key)?;
        let former = former.as_deref();
        if !is_expected(former) {
            return Ok(false);
        }
        check_new_name(key, former)?;
        let note = ValueOperation {
            operation,
            undoes: None,
        };
        let note = (former != Some(value.as_bytes())).then_some(note);
        self.put_value(disk, key, former, value.as_bytes(), note)?;
        Ok(true)
    }

    /// Sets the value of a key, after logging `note`, if given. The caller holds the lock.
    fn put_value(
        &self,
        disk: &dyn Disk,
        key: &ValueKey,
        former: Option<&[u8]>,
        value: &[u8],
        note: Option<ValueOperation<'_>>,
    ) -> Result<(), InstanceError> {
        let told = file_error(key.as_str());
        let rename = || {
            disk.rename(TEMP_FILE, key.as_str())
                .map(|()| true)
                .map_err(told)
        };
        let placed = stage_file(disk, TEMP_FILE, value, None)
            .map_err(told)
            .and_then(|()| match note {
                Some(note) => self.commit(disk, key, former, Some(value), note, rename),
                None => rename(),
            });
        if let Err(error) = placed {
            // If this fails too, the next writer overwrites the file.
            let _ = disk.remove(TEMP_FILE);
            return Err(error);
        }
        disk.sync_folder(parent_folder(key.as_str())).map_err(told)
    }

    /// Deletes a key, after logging `note`. The caller holds the lock.
    fn delete_value(
        &self,
        disk: &dyn Disk,
        key: &ValueKey,
        former: &[u8],
        note: ValueOperation<'_>,
    ) -> Result<(), InstanceError> {
        let told = file_error(key.as_str());
        self.commit(disk, key, Some(former), None, note, || {
            disk.remove(key.as_str()).map(|()| true).map_err(told)
        })?;
        let mut folder = parent_folder(key.as_str());
        disk.sync_folder(folder).map_err(told)?;
        // Namespaces without keys are deleted. One that remains does no harm.
        while !folder.is_empty() && disk.remove_folder(folder).is_ok() {
            folder = parent_folder(folder);
        }
        Ok(())
    }

    /// Logs an operation that changes a value from `former` to `next`, and makes the change with `place`.
    fn commit(
        &self,
        disk: &dyn Disk,
        key: &ValueKey,
        former: Option<&[u8]>,
        next: Option<&[u8]>,
        note: ValueOperation<'_>,
        place: impl FnOnce() -> Result<bool, InstanceError>,
    ) -> Result<bool, InstanceError> {
        let state = created(&self.state)?;
        let record = trash::record_operation(state, key, former, next, note)?;
        // All writers hold the lock of the folder, so the log needs no lock.
        let lock = Box::new(|| Ok(None));
        let waiting = TEMP_FILE.to_owned();
        SingleFileOperation {
            disk,
            log: trash::log(state),
            waiting,
            lock,
        }
        .commit(&record, place)
    }

    fn current_hash(&self, key: &str) -> Result<Option<String>, InstanceError> {
        let (Some(disk), Ok(key)) = (self.disk()?, key.parse::<ValueKey>()) else {
            return Ok(None);
        };
        match disk.read(key.as_str()) {
            Ok(value) => Ok(value.map(|(bytes, _)| hash_bytes(&bytes))),
            Err(error) if is_foreign_file(&error) => Ok(Some(String::new())),
            Err(error) => Err(file_error(key.as_str())(error)),
        }
    }
}

/// Returns whether the error is that of a file that this store did not write.
///
/// The hash of such a file is not in the log.
fn is_foreign_file(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidInput, PermissionDenied};
    is_symlink_error(error)
        || matches!(error.kind(), FileTooLarge | InvalidInput | PermissionDenied)
}

/// Returns the bytes of a value, or `None` if the key is not set.
fn read_value(disk: &dyn Disk, key: &ValueKey) -> Result<Option<Vec<u8>>, InstanceError> {
    let read = disk.read(key.as_str()).map_err(file_error(key.as_str()))?;
    Ok(read.map(|(bytes, _)| bytes))
}

/// Returns the modification time of a file, truncated to milliseconds.
fn modified_at(signature: &FileStat) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(signature.modified_ns).trunc_subsecs(3)
}

/// Returns an error if the key is not set yet and Windows does not allow its path.
fn check_new_name(key: &ValueKey, former: Option<&[u8]>) -> Result<(), InstanceError> {
    match key
        .as_str()
        .split('/')
        .find_map(windows_name_problem)
        .filter(|_| former.is_none())
    {
        Some(why) => Err(InstanceError::invalid_key(key.as_str(), why)),
        None => Ok(()),
    }
}

/// Returns an error if the path of a key is occupied.
///
/// This is the case if an outer namespace is a key, if keys exist below the path, or if the file system does not
/// distinguish the path from that of another key that differs in case.
fn check_path_free(disk: &dyn Disk, key: &ValueKey) -> Result<(), InstanceError> {
    let path = key.as_str();
    let told = file_error(path);
    let taken = |why: String| {
        Err(InstanceError::KeyTaken {
            key: path.to_owned(),
            why,
        })
    };
    for (end, _) in path.match_indices('/') {
        let outer = &path[..end];
        match disk.stat(outer).map_err(told)? {
            None => break,
            Some(found) if !found.is_folder => return taken(format!("{outer} is a key")),
            Some(_) => {}
        }
    }
    if disk
        .stat(path)
        .map_err(told)?
        .is_some_and(|found| found.is_folder)
    {
        // An empty namespace is left over from a deletion.
        disk.remove_folder(path).map_err(told)?;
        if disk.stat(path).map_err(told)?.is_some() {
            return taken(format!("keys begin with {path}/"));
        }
    }
    match find_case_variant(disk, path).map_err(told)? {
        Some(other) => taken(format!("{other} exists, and this file system ignores case")),
        None => Ok(()),
    }
}
