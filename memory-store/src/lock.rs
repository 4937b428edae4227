//! One writer at a time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use memory_core::StoreError;

use crate::error::io_error;

/// The file that writers lock. It lies beside the index and not in it, because that folder may be deleted at any time.
const NAME: &str = ".lock";

/// The folder of what is locked by those who write to one file among many.
const FOLDER: &str = ".locks";

/// How long a writer waits for the others.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The right to write to a home, until dropped. The system takes it back when the process dies.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Waits for the right to write to the home at `root`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn acquire(root: &Path, patience: Duration) -> Result<Self, StoreError> {
        let place = root.join(NAME);
        Self::lock(open(&place), &place, root, patience)
    }

    /// Waits for the right to write to the file `name` in the folder `root`; the file need not be there. Now and then two files have one
    /// lock, so that there are never more than 256, and none is removed that somebody may wait for.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn of_one(root: &Path, name: &str, patience: Duration) -> Result<Self, StoreError> {
        let folder = root.join(FOLDER);
        let place = folder.join(format!("{:02x}", crc32fast::hash(name.as_bytes()) & 0xff));
        let opened = match open(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match DirBuilder::new().mode(0o700).create(&folder) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                    // Somebody else may have made it in the meantime.
                    _ => open(&place),
                }
            }
            opened => opened,
        };
        Self::lock(opened, &place, root, patience)
    }

    /// Waits for the right to write to the folder `root`, in which no file of ours may lie: the folder itself is locked.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn of_folder(root: &Path, patience: Duration) -> Result<Self, StoreError> {
        Self::lock(File::open(root), root, root, patience)
    }

    /// Says that something was written, before the lock is given back; returns by what others see it.
    pub(crate) fn hand_on(&self) -> u64 {
        let mut bytes = [0; 8];
        // Without chance or room on the disk, others find out a little later by the times of what was written.
        if getrandom::fill(&mut bytes).is_ok() {
            let _ = self.file.write_all_at(&bytes, 0);
        }
        u64::from_ne_bytes(bytes)
    }

    fn lock(opened: io::Result<File>, place: &Path, root: &Path, patience: Duration) -> Result<Self, StoreError> {
        let refused = |error: io::Error| io_error(format!("lock {}", place.display()), error);
        let file = opened.map_err(refused)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::Error(error)) => Err(refused(error)),
            Err(TryLockError::WouldBlock) => {
                let held = || StoreError::Locked { home: root.display().to_string(), seconds: patience.as_secs() };
                let file = wait(file, patience).ok_or_else(held)?.map_err(refused)?;
                Ok(Self { file })
            }
        }
    }
}

/// Returns what the last writer left who [handed on](WriterLock::hand_on) the lock of the home at `root`.
pub(crate) fn generation(root: &Path) -> u64 {
    let mut bytes = [0; 8];
    // Whatever else somebody put there is not waited for.
    let careful = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(careful.bits()).unwrap_or_default());
    let read = options.open(root.join(NAME)).and_then(|file| file.read_exact_at(&mut bytes, 0));
    read.map_or(0, |()| u64::from_ne_bytes(bytes))
}

fn open(place: &Path) -> io::Result<File> {
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(no_follow);
    options.open(place)
}

/// Waits for the lock on a thread of its own, because the system lets one wait for it without end or not at all. Writers
/// get it in the order in which they came. A thread that nobody waits for any longer gives the lock back at once.
pub(crate) fn wait(file: File, patience: Duration) -> Option<io::Result<File>> {
    let (sender, receiver) = sync_channel(0);
    thread::spawn(move || {
        let locked = file.lock().map(|()| file);
        // This fails if the receiver is gone; then the file is closed here, and with it the lock.
        let _ = sender.send(locked);
    });
    receiver.recv_timeout(patience).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_refused_while_the_first_writes_and_let_in_after() {
        let home = tempfile::tempdir().unwrap();
        let first = WriterLock::acquire(home.path(), Duration::ZERO).unwrap();
        let refusal = WriterLock::acquire(home.path(), Duration::ZERO).unwrap_err();
        assert_eq!(refusal.code(), memory_core::Code::Locked);
        drop(first);
        WriterLock::acquire(home.path(), PATIENCE).unwrap();
    }

    #[test]
    fn who_writes_to_one_file_does_not_wait_for_who_writes_to_another() {
        let home = tempfile::tempdir().unwrap();
        let _one = WriterLock::of_one(home.path(), "a.jsonl", Duration::ZERO).unwrap();
        let _other = WriterLock::of_one(home.path(), "b.jsonl", Duration::ZERO).unwrap();
        let refusal = WriterLock::of_one(home.path(), "a.jsonl", Duration::ZERO).unwrap_err();
        assert_eq!(refusal.code(), memory_core::Code::Locked);
    }
}
