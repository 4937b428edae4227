//! The folder of the full text, with a limit on each wait for a lock.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use crate::lock::{LockMode, lock_within};
use crate::system::owner_only;

/// A folder of tantivy. Where tantivy waits for another process without a limit, this one fails with `StoreError::Locked`.
#[derive(Debug, Clone)]
pub(super) struct TextDirectory {
    directory: MmapDirectory,
    folder: PathBuf,
    lock_timeout: Duration,
}

impl TextDirectory {
    /// Opens an existing folder.
    pub(super) fn open(folder: &Path, lock_timeout: Duration) -> tantivy::Result<Self> {
        Ok(Self {
            directory: MmapDirectory::open(folder)?,
            folder: folder.to_owned(),
            lock_timeout,
        })
    }
}

impl Directory for TextDirectory {
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        if !lock.is_blocking {
            return self.directory.acquire_lock(lock);
        }
        let place = self.folder.join(&lock.filepath);
        let failed = |error: io::Error| LockError::IoError(Arc::new(error));
        let file = owner_only(File::options().write(true).create(true).truncate(false))
            .open(&place)
            .map_err(failed)?;
        let locked = lock_within(
            LockMode::Exclusive,
            file,
            &place,
            &self.folder,
            self.lock_timeout,
        );
        let file = locked.map_err(|error| failed(io::Error::other(error)))?;
        Ok(DirectoryLock::from(Box::new(file)))
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.directory.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.directory.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.directory.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.directory.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.directory.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.directory.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.directory.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.directory.watch(callback)
    }
}
