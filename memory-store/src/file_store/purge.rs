//! Empties the trash.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use memory_core::StoreError;

use super::FileStore;
use crate::disk::{FileStat, list_files};
use crate::error::io_error;

/// Number of files that are removed under one lock; other processes can write in between.
const FILES_PER_LOCK: usize = 256;

impl FileStore {
    /// Permanently deletes the files that were moved to the trash before `before`.
    ///
    /// Returns the number and the total size in bytes of the deleted files. `go_on` is called every few hundred files and can stop the
    /// deletion. Other processes can write in between.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    pub fn purge_while(
        &self,
        before: DateTime<Utc>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(u64, u64), StoreError> {
        // An interrupted operation is rolled back before files are deleted permanently.
        drop(self.lock_for_writing()?);
        self.purge_log(before)?;
        let (mut files, mut bytes) = (0, 0);
        let mut slice = BTreeMap::new();
        for begun in self.journaled_operations(None) {
            let begun = begun?;
            let is_old = begun.operation.at < before;
            for trash in begun
                .subject
                .changes
                .into_iter()
                .filter(|_| is_old)
                .filter_map(|change| change.before?.trash)
            {
                let looked = self.disk.stat(&trash);
                if let Some(found) =
                    looked.map_err(|error| io_error(format!("check {trash}"), error))?
                {
                    files += 1;
                    bytes += found.size;
                    slice.insert(trash, found);
                }
                if FILES_PER_LOCK <= slice.len() {
                    self.remove_trash(&std::mem::take(&mut slice))?;
                    if !go_on() {
                        return Ok((files, bytes));
                    }
                }
            }
        }
        self.remove_trash(&slice)?;
        Ok((files, bytes))
    }

    fn remove_trash(&self, slice: &BTreeMap<String, FileStat>) -> Result<(), StoreError> {
        if slice.is_empty() {
            return Ok(());
        }
        let _lock = self.lock_for_writing()?;
        let mut emptied = BTreeSet::new();
        for trash in slice.keys() {
            self.disk
                .remove(trash)
                .map_err(|error| io_error(format!("delete {trash}"), error))?;
            emptied.extend(trash.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
        }
        for folder in emptied {
            let refused = |error| io_error(format!("delete {folder}"), error);
            self.disk.remove_folder(&folder).map_err(refused)?;
            if let Some((month, _)) = folder.rsplit_once('/') {
                self.disk.remove_folder(month).map_err(refused)?;
            }
        }
        Ok(())
    }

    /// Returns the number of files in the trash, and their total size in bytes.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn trash_size(&self) -> Result<(u64, u64), StoreError> {
        let refused = |error| io_error("list trash", error);
        let (mut files, mut bytes) = (0, 0);
        for path in list_files(self.disk.as_ref(), "trash", |_| true).map_err(refused)? {
            let found = self.disk.stat(&path).map_err(refused)?;
            files += 1;
            bytes += found.map_or(0, |found| found.size);
        }
        Ok((files, bytes))
    }
}
