//! Emptying the trash.

use chrono::{DateTime, Utc};
use memory_core::StoreError;

use super::FileStore;
use crate::disk::EntryKind;
use crate::error::io_error;

impl FileStore {
    /// Removes for good what went to trash before `before`.
    pub(super) fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError> {
        let _lock = self.begin()?;
        let (mut files, mut bytes) = (0, 0);
        let mut emptied = std::collections::BTreeSet::new();
        for begun in self.begun() {
            let begun = begun?;
            if before <= begun.at {
                continue;
            }
            for trash in begun.changes.iter().filter_map(|change| change.before.as_ref()?.trash.as_ref()) {
                let refused = |error| io_error(format!("remove {trash}"), error);
                if let Some(found) = self.disk.signature(trash).map_err(refused)? {
                    self.disk.remove(trash).map_err(refused)?;
                    files += 1;
                    bytes += found.size;
                    emptied.extend(trash.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
                }
            }
        }
        for folder in emptied {
            let refused = |error| io_error(format!("remove {folder}"), error);
            self.disk.remove_folder(&folder).map_err(refused)?;
            if let Some((month, _)) = folder.rsplit_once('/') {
                self.disk.remove_folder(month).map_err(refused)?;
            }
        }
        Ok((files, bytes))
    }

    /// Returns how many files are in the trash, and their bytes.
    pub(super) fn trash_size(&self) -> Result<(u64, u64), StoreError> {
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
