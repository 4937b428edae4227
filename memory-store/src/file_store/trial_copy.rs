//! Copies of memories for trials.
//!
//! A dry run of a dream works on such a copy, without a language model; a test of a model works on an empty store.

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
use crate::system::{open_folder_lock, private_temp_folder};

/// The folder of the journal, below the home.
const JOURNAL: &str = "journal";

/// A store for trials in a private folder of a home.
///
/// It is deleted on drop. If the process ends before, the next copy deletes it.
#[derive(Debug)]
pub struct TrialCopy {
    /// The store on the copy.
    pub store: Arc<FileStore>,
    folder: TempDir,
    /// The folder, locked while the copy is in use.
    _lock: File,
}

impl FileStore {
    /// Copies the memories, the index and the journal, to try a change before it is made.
    ///
    /// # Errors
    /// If the files cannot be read or copied.
    pub fn create_trial_copy(&self) -> Result<TrialCopy, StoreError> {
        self.refresh()?;
        let _lock = self.lock_for_writing()?;
        let refused = |error| {
            io_error(
                format!("copy the memories of {}", self.root.display()),
                error,
            )
        };
        let (folder, in_use) = self.create_trial_folder().map_err(refused)?;
        for name in [CATEGORIES, ENTRIES, JOURNAL] {
            copy_files(&self.root.join(name), &folder.path().join(name)).map_err(refused)?;
        }
        self.index.copy_to(folder.path())?;
        Ok(TrialCopy {
            store: Arc::new(Self::open(folder.path(), self.options)?),
            folder,
            _lock: in_use,
        })
    }

    /// Creates an empty store, for trials on copies of single memories.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn empty_trial(&self) -> Result<TrialCopy, StoreError> {
        let _lock = self.lock_for_writing()?;
        let refused = |error| {
            io_error(
                format!("create a temporary folder in {}", self.root.display()),
                error,
            )
        };
        let (folder, in_use) = self.create_trial_folder().map_err(refused)?;
        Ok(TrialCopy {
            store: Arc::new(Self::open(folder.path(), self.options)?),
            folder,
            _lock: in_use,
        })
    }

    /// Creates a private folder, and deletes those of earlier processes. The caller holds the lock of the home.
    fn create_trial_folder(&self) -> io::Result<(TempDir, File)> {
        let parent = self.root.join(FOLDER);
        cache_file::create_folder(&parent)?;
        remove_unused_copies(&parent);
        let folder = private_temp_folder(&parent, REHEARSAL)?;
        let in_use = open_folder_lock(folder.path())?;
        // Only the holder of the lock of the home opens new copies.
        in_use.try_lock()?;
        Ok((folder, in_use))
    }
}

impl TrialCopy {
    /// Returns the folder of the store.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Deletes the copies in `parent` that no process uses.
///
/// The caller holds the lock of the home, so no copy is being created.
fn remove_unused_copies(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_copy = entry.file_name().to_string_lossy().starts_with(REHEARSAL);
        let lock = is_copy
            .then(|| open_folder_lock(&entry.path()).ok())
            .flatten();
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
    use std::os::unix::fs::PermissionsExt;

    use super::super::FileStoreOptions;
    use super::*;

    #[test]
    fn a_copy_that_was_left_behind_is_removed_and_one_in_use_stays() {
        let home = tempfile::tempdir().unwrap();
        let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
        let copies = || {
            let names = fs::read_dir(home.path().join(FOLDER))
                .unwrap()
                .map(|entry| entry.unwrap().file_name());
            names
                .filter(|name| name.to_string_lossy().starts_with(REHEARSAL))
                .count()
        };
        fs::create_dir_all(
            home.path()
                .join(FOLDER)
                .join(format!("{REHEARSAL}left/categories")),
        )
        .unwrap();
        let first = store.create_trial_copy().unwrap();
        assert_eq!(copies(), 1, "what was left is gone");
        let second = store.create_trial_copy().unwrap();
        assert_eq!(copies(), 2, "the first is in use");
        let inner = first.store.root.join(FOLDER);
        assert!(fs::read_dir(inner).unwrap().all(|entry| {
            !entry
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with(REHEARSAL)
        }));
        drop((first, second));
        assert_eq!(copies(), 0);
    }

    #[test]
    fn an_empty_trial_is_private_and_replaces_one_that_was_left_behind() {
        let home = tempfile::tempdir().unwrap();
        let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
        let left = home.path().join(FOLDER).join(format!("{REHEARSAL}left"));
        fs::create_dir_all(left.join("categories")).unwrap();
        let trial = store.empty_trial().unwrap();
        assert!(!left.exists() && trial.folder().starts_with(home.path()));
        let mode = trial.folder().metadata().unwrap().permissions().mode() & 0o777;
        // The portable implementation sets no modes.
        assert!(cfg!(portable_system) || mode == 0o700, "{mode:o}");
        let folder = trial.folder().to_owned();
        drop(trial);
        assert!(!folder.exists());
    }
}
