//! The store of values in a folder.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SubsecRound, Utc};
use memory_core::instance::kv::{KeySummary, KeyValueStore, Prefix, Value, ValueKey};
use memory_core::instance::{InstanceError, InstanceOperation, InstanceRecord, InstanceRecords, InstanceVerb, Operations};
use memory_core::{OperationId, StoreError};

use super::trash::{self, Note};
use crate::disk::{Disk, EntryKind, LateDisk, Signature, other_case};
use crate::history::{no_folder, refused};
use crate::lock::{PATIENCE, WriterLock};
use crate::months;

/// The temporary file of a new value. No key has this name, and there is one writer at a time.
const WAITING: &str = ".next~";

/// A folder of values, which is created when the first value is set.
#[derive(Debug)]
pub struct ValueFolder {
    place: LateDisk,
    state: LateDisk,
    patience: Duration,
}

impl ValueFolder {
    /// Returns the store of the folder `root`, which need not exist. Previous values go to `state`.
    pub fn new(root: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self { place: LateDisk::new(root.into()), state: LateDisk::new(state.into()), patience: PATIENCE }
    }

    /// Returns the store of the folder `root` with the given disks.
    ///
    /// `disk` contains the values and `state` contains the previous values.
    pub fn on_disks(root: impl Into<PathBuf>, disk: Arc<dyn Disk>, state: Arc<dyn Disk>) -> Self {
        let place = LateDisk::on_disk(root.into(), disk);
        Self { place, state: LateDisk::on_disk(PathBuf::new(), state), patience: PATIENCE }
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    fn disk(&self) -> Result<Option<&dyn Disk>, InstanceError> {
        self.place.if_there().map_err(no_folder(self.root()))
    }

    fn state(&self) -> Result<Option<&dyn Disk>, InstanceError> {
        self.state.if_there().map_err(no_folder(self.state.root()))
    }

    fn lock(&self) -> Result<WriterLock, InstanceError> {
        Ok(WriterLock::of_folder(self.root(), self.patience)?)
    }
}

impl KeyValueStore for ValueFolder {
    fn set(&self, key: &ValueKey, value: &str, operation: &InstanceOperation) -> Result<bool, InstanceError> {
        let disk = self.place.made().map_err(no_folder(self.root()))?;
        let _lock = self.lock()?;
        refuse_taken(disk, key)?;
        let former = read(disk, key)?;
        let is_another = former.as_deref() != Some(value.as_bytes());
        let note = Note { operation, verb: "set", undoes: None };
        self.put(disk, key, former.as_deref(), value.as_bytes(), is_another.then_some(note))?;
        Ok(former.is_none())
    }

    fn get(&self, key: &ValueKey) -> Result<Option<Value>, InstanceError> {
        let told = |error| refused(key.as_str(), error);
        let Some(disk) = self.disk()? else { return Ok(None) };
        let Some((bytes, signature)) = disk.read(key.as_str()).map_err(told)? else { return Ok(None) };
        if other_case(disk, key.as_str()).map_err(told)?.is_some() {
            return Ok(None);
        }
        let text = String::from_utf8(bytes).map_err(|error| InstanceError::Damaged {
            place: self.root().join(key.as_str()).display().to_string(),
            what: format!("it is not UTF-8 from byte {} on", error.utf8_error().valid_up_to()),
        })?;
        Ok(Some(Value { text, updated_at: set_at(&signature) }))
    }

    fn delete(&self, key: &ValueKey, operation: &InstanceOperation) -> Result<bool, InstanceError> {
        let Some(disk) = self.disk()? else { return Ok(false) };
        let _lock = self.lock()?;
        let Some(former) = read(disk, key)? else { return Ok(false) };
        if other_case(disk, key.as_str()).map_err(|error| refused(key.as_str(), error))?.is_some() {
            return Ok(false);
        }
        self.take_away(disk, key, &former, Note { operation, verb: "delete", undoes: None })?;
        Ok(true)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<KeySummary>, InstanceError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        let mut keys = Vec::new();
        let mut folders = vec![prefix.namespace().to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match disk.folder(&folder) {
                Ok(entries) => entries,
                Err(error) => return Err(refused(&folder, error)),
            };
            for entry in entries {
                let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
                // A file with an invalid name is not a key.
                let Ok(key) = path.parse::<ValueKey>() else { continue };
                match entry.kind {
                    EntryKind::Folder if path.starts_with(prefix.as_str()) || prefix.as_str().starts_with(&path) => {
                        folders.push(path);
                    }
                    EntryKind::File if prefix.fits(&key) => {
                        // The file may have been deleted since the folder was listed.
                        let Some(found) = disk.signature(&path).map_err(|error| refused(&path, error))? else { continue };
                        let updated_at = set_at(&found);
                        keys.push(KeySummary { key, size_bytes: found.size, updated_at });
                    }
                    EntryKind::File | EntryKind::Folder | EntryKind::Other => {}
                }
            }
        }
        keys.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(keys)
    }
}

impl Operations for ValueFolder {
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError> {
        match self.state()? {
            Some(state) => Ok(Box::new(trash::records(state, |key| self.hash_now(key))?)),
            None => Ok(Box::new(std::iter::empty())),
        }
    }

    fn undo(&self, undone: &OperationId, operation: &InstanceOperation) -> Result<InstanceRecord, InstanceError> {
        let missing = || StoreError::OperationNotFound { wanted: format!("no operation has the id {undone}") };
        let state = self.state()?.ok_or_else(missing)?;
        let disk = self.place.made().map_err(no_folder(self.root()))?;
        let _lock = self.lock()?;
        let (line, record) = trash::open(state, &|key| self.hash_now(key), undone)?;
        let changed = |why: String| InstanceError::ChangedSince { operation: undone.clone(), why };
        let key: ValueKey = line.key.parse()?;
        refuse_taken(disk, &key).map_err(|error| match error {
            InstanceError::KeyTaken { why, .. } => changed(why),
            error => error,
        })?;
        let now = read(disk, &key)?;
        if now.as_deref().map(trash::hash) != line.after {
            return Err(changed(format!("the key {key} was changed afterwards")));
        }
        let note = Note { operation, verb: InstanceVerb::Undo.as_str(), undoes: Some(undone) };
        match (line.former(state)?, now) {
            (Some(former), now) => self.put(disk, &key, now.as_deref(), &former, Some(note))?,
            (None, Some(now)) => self.take_away(disk, &key, &now, note)?,
            (None, None) => {}
        }
        Ok(record)
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError> {
        let Some(state) = self.state()? else { return Ok((0, 0)) };
        let _lock = self.disk()?.is_some().then(|| self.lock()).transpose()?;
        months::purge(state, trash::FOLDER, before).map_err(|error| refused(trash::FOLDER, error))
    }
}

impl ValueFolder {
    /// Sets the value of a key, after logging `note`, if given. The caller holds the lock.
    fn put(
        &self,
        disk: &dyn Disk,
        key: &ValueKey,
        former: Option<&[u8]>,
        value: &[u8],
        note: Option<Note<'_>>,
    ) -> Result<(), InstanceError> {
        let told = |error| refused(key.as_str(), error);
        let placed = disk.write(WAITING, value).and_then(|()| disk.sync_file(WAITING)).map_err(told);
        let placed = placed.and_then(|()| match note {
            Some(note) => trash::keep(&self.state, key, former, Some(value), note),
            None => Ok(()),
        });
        if let Err(error) = placed.and_then(|()| disk.rename(WAITING, key.as_str()).map_err(told)) {
            // If this fails too, the next writer overwrites the file.
            let _ = disk.remove(WAITING);
            return Err(error);
        }
        disk.sync_folder(folder_of(key.as_str())).map_err(told)
    }

    /// Deletes a key, after logging `note`. The caller holds the lock.
    fn take_away(&self, disk: &dyn Disk, key: &ValueKey, former: &[u8], note: Note<'_>) -> Result<(), InstanceError> {
        let told = |error| refused(key.as_str(), error);
        trash::keep(&self.state, key, Some(former), None, note)?;
        disk.remove(key.as_str()).map_err(told)?;
        let mut folder = folder_of(key.as_str());
        disk.sync_folder(folder).map_err(told)?;
        // Namespaces without keys are deleted. One that remains does no harm.
        while !folder.is_empty() && disk.remove_folder(folder).is_ok() {
            folder = folder_of(folder);
        }
        Ok(())
    }

    fn hash_now(&self, key: &str) -> Result<Option<String>, InstanceError> {
        let (Some(disk), Ok(key)) = (self.disk()?, key.parse::<ValueKey>()) else { return Ok(None) };
        match disk.read(key.as_str()) {
            Ok(value) => Ok(value.map(|(bytes, _)| trash::hash(&bytes))),
            Err(error) if is_foreign(&error) => Ok(Some(String::new())),
            Err(error) => Err(refused(key.as_str(), error)),
        }
    }
}

/// Returns whether the error is that of a file that this store did not write.
///
/// The hash of such a file is not in the log.
fn is_foreign(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidInput, PermissionDenied};
    let is_symlink = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    is_symlink || matches!(error.kind(), FileTooLarge | InvalidInput | PermissionDenied)
}

/// Returns the bytes of a value, or `None` if the key is not set.
fn read(disk: &dyn Disk, key: &ValueKey) -> Result<Option<Vec<u8>>, InstanceError> {
    let read = disk.read(key.as_str()).map_err(|error| refused(key.as_str(), error))?;
    Ok(read.map(|(bytes, _)| bytes))
}

/// Returns the modification time of a file, truncated to milliseconds.
fn set_at(signature: &Signature) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(signature.modified_ns).trunc_subsecs(3)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns an error if the path of a key is occupied.
///
/// This is the case if an outer namespace is a key, if keys exist below the path, or if the file system does not
/// distinguish the path from that of another key that differs in case.
fn refuse_taken(disk: &dyn Disk, key: &ValueKey) -> Result<(), InstanceError> {
    let path = key.as_str();
    let told = |error| refused(path, error);
    let taken = |why: String| Err(InstanceError::KeyTaken { key: path.to_owned(), why });
    for (end, _) in path.match_indices('/') {
        let outer = &path[..end];
        match disk.signature(outer).map_err(told)? {
            None => break,
            Some(found) if !found.is_folder => return taken(format!("{outer} is a key")),
            Some(_) => {}
        }
    }
    if disk.signature(path).map_err(told)?.is_some_and(|found| found.is_folder) {
        // An empty namespace is left over from a deletion.
        disk.remove_folder(path).map_err(told)?;
        if disk.signature(path).map_err(told)?.is_some() {
            return taken(format!("keys begin with {path}/"));
        }
    }
    match other_case(disk, path).map_err(told)? {
        Some(other) => taken(format!("{other} exists, and this file system ignores case")),
        None => Ok(()),
    }
}
