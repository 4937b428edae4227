//! A copy of the memories for trial changes.
//!
//! A dry run of a dream works on such a copy, without a language model.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use memory_core::{MemoryStore, StoreError};
use tempfile::TempDir;

use super::FileStore;
use crate::cache_file;
use crate::disk::copy_with_time;
use crate::error::io_error;
use crate::index::{CATEGORIES, ENTRIES, FOLDER, REHEARSAL};

/// The folder of the journal, below the home.
const JOURNAL: &str = "journal";

/// A copy of the memories of a home for trial changes.
///
/// It is deleted on drop. If the process ends before, the next copy deletes it.
#[derive(Debug)]
pub struct TrialCopy {
    /// The store on the copy.
    pub store: Arc<FileStore>,
    _folder: TempDir,
    /// The folder, locked while the copy is in use.
    _lock: File,
}

impl FileStore {
    /// Copies the memories, the index and the journal, to try a change before it is made.
    ///
    /// # Errors
    /// If the files cannot be read or copied.
    pub fn rehearsal(&self) -> Result<TrialCopy, StoreError> {
        self.refresh()?;
        let _lock = self.begin()?;
        let refused = |error| io_error(format!("copy the memories of {}", self.root.display()), error);
        let parent = self.root.join(FOLDER);
        cache_file::make_folder(&parent).map_err(refused)?;
        remove_unused_copies(&parent);
        let folder = tempfile::Builder::new().prefix(REHEARSAL).tempdir_in(&parent).map_err(refused)?;
        let in_use = File::open(folder.path()).map_err(refused)?;
        in_use.lock().map_err(refused)?;
        for name in [CATEGORIES, ENTRIES, JOURNAL] {
            copy_files(&self.root.join(name), &folder.path().join(name)).map_err(refused)?;
        }
        self.index.copy_to(folder.path())?;
        Ok(TrialCopy { store: Arc::new(Self::open(folder.path(), self.options)?), _folder: folder, _lock: in_use })
    }
}

/// Deletes the copies in `parent` that no process uses.
///
/// The caller holds the lock of the home, so no copy is being created.
fn remove_unused_copies(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_copy = entry.file_name().to_string_lossy().starts_with(REHEARSAL);
        let lock = File::open(entry.path()).ok().filter(|_| is_copy);
        if lock.is_some_and(|lock| lock.try_lock().is_ok()) {
            // A copy that cannot be deleted is harmless.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Copies the files and folders below `from` with their modification times.
///
/// Does nothing if `from` does not exist.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_files(&entry.path(), &target)?;
        } else if kind.is_file() {
            match copy_with_time(&entry.path(), &target) {
                // A program without the lock has moved or deleted the file.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // A file without read permission is unreadable in the copy too.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                copied => copied?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::FileStoreOptions;
    use super::*;

    #[test]
    fn a_copy_that_was_left_behind_is_removed_and_one_in_use_stays() {
        let home = tempfile::tempdir().unwrap();
        let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
        let copies = || {
            let names = fs::read_dir(home.path().join(FOLDER)).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_string_lossy().starts_with(REHEARSAL)).count()
        };
        fs::create_dir_all(home.path().join(FOLDER).join(format!("{REHEARSAL}left/categories"))).unwrap();
        let first = store.rehearsal().unwrap();
        assert_eq!(copies(), 1, "what was left is gone");
        let second = store.rehearsal().unwrap();
        assert_eq!(copies(), 2, "the first is in use");
        let inner = first.store.root.join(FOLDER);
        assert!(fs::read_dir(inner).unwrap().all(|entry| !entry.unwrap().file_name().to_string_lossy().starts_with(REHEARSAL)));
        drop((first, second));
        assert_eq!(copies(), 0);
    }
}
