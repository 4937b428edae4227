//! Emptying the trash.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use memory_core::StoreError;

use super::FileStore;
use crate::disk::{EntryKind, Signature};
use crate::error::io_error;

/// So many files are removed before others may write again.
const SLICE: usize = 256;

impl FileStore {
    /// Removes for good what went to trash before `before`, as long as `go_on` says so, and returns the files and bytes
    /// removed. It is asked every few hundred files, and in between others may write.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn purge_while(&self, before: DateTime<Utc>, go_on: &mut dyn FnMut() -> bool) -> Result<(u64, u64), StoreError> {
        // What another writer left half done is taken back before anything is gone for good.
        drop(self.begin()?);
        let (mut files, mut bytes) = (0, 0);
        let mut slice = BTreeMap::new();
        for begun in self.begun() {
            let begun = begun?;
            let is_old = begun.at < before;
            for trash in begun.changes.into_iter().filter(|_| is_old).filter_map(|change| change.before?.trash) {
                let looked = self.disk.signature(&trash);
                if let Some(found) = looked.map_err(|error| io_error(format!("look at {trash}"), error))? {
                    files += 1;
                    bytes += found.size;
                    slice.insert(trash, found);
                }
                if SLICE <= slice.len() {
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

    fn remove_trash(&self, slice: &BTreeMap<String, Signature>) -> Result<(), StoreError> {
        if slice.is_empty() {
            return Ok(());
        }
        let _lock = self.begin()?;
        let mut emptied = BTreeSet::new();
        for trash in slice.keys() {
            self.disk.remove(trash).map_err(|error| io_error(format!("remove {trash}"), error))?;
            emptied.extend(trash.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
        }
        for folder in emptied {
            let refused = |error| io_error(format!("remove {folder}"), error);
            self.disk.remove_folder(&folder).map_err(refused)?;
            if let Some((month, _)) = folder.rsplit_once('/') {
                self.disk.remove_folder(month).map_err(refused)?;
            }
        }
        Ok(())
    }

    /// Returns how many files are in the trash, and their bytes.
    ///
    /// # Errors
    /// When a folder cannot be listed.
    pub fn trash_size(&self) -> Result<(u64, u64), StoreError> {
        let (mut files, mut bytes) = (0, 0);
        let mut folders = vec!["trash".to_owned()];
        while let Some(folder) = folders.pop() {
            let refused = |error| io_error(format!("list {folder}"), error);
            for entry in self.disk.folder(&folder).map_err(refused)? {
                let path = format!("{folder}/{}", entry.name);
                match entry.kind {
                    EntryKind::Folder => folders.push(path),
                    EntryKind::File => {
                        files += 1;
                        bytes += self.disk.signature(&path).map_err(refused)?.map_or(0, |found| found.size);
                    }
                    EntryKind::Other => {}
                }
            }
        }
        Ok((files, bytes))
    }
}
