//! One writer at a time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use memory_core::StoreError;

use crate::error::io_error;

/// The file that writers lock. It lies beside the index and not in it, because that folder may be deleted at any time.
const NAME: &str = ".lock";

/// The folder of the locks of those who write to one file among many.
pub(crate) const FOLDER: &str = ".locks";

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

    /// Waits until nobody holds the home at `root` alone, and keeps them from it; others may share it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn share(root: &Path, patience: Duration) -> Result<Self, StoreError> {
        let place = root.join(NAME);
        Self::lock_as(Mode::Shared, open(&place), &place, root, patience)
    }

    /// Waits for the right to write to the file `name` in the folder `root`; the file need not be there. Now and then two files have one
    /// lock, so that there are never more than 256, and none is removed that somebody may wait for.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn of_one(root: &Path, name: &str, patience: Duration) -> Result<Self, StoreError> {
        Self::of_name(root, &format!("{:02x}", crc32fast::hash(name.as_bytes()) & 0xff), patience)
    }

    /// Waits for the lock called `name` in the folder `root`, which is that of no other name.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn of_name(root: &Path, name: &str, patience: Duration) -> Result<Self, StoreError> {
        let (place, opened) = open_named(root, name);
        Self::lock(opened, &place, root, patience)
    }

    /// Returns the lock called `name` in the folder `root` if it is free.
    pub(crate) fn of_name_if_free(root: &Path, name: &str) -> Option<Self> {
        let file = open_named(root, name).1.ok()?;
        file.try_lock().ok().map(|()| Self { file })
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
        Self::lock_as(Mode::Exclusive, opened, place, root, patience)
    }

    fn lock_as(mode: Mode, opened: io::Result<File>, place: &Path, root: &Path, patience: Duration) -> Result<Self, StoreError> {
        let refused = |error: io::Error| io_error(format!("lock {}", place.display()), error);
        let file = opened.map_err(refused)?;
        let tried = match mode {
            Mode::Exclusive => file.try_lock(),
            Mode::Shared => file.try_lock_shared(),
        };
        match tried {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::Error(error)) => Err(refused(error)),
            Err(TryLockError::WouldBlock) => {
                let held = || StoreError::Locked { home: root.display().to_string(), seconds: patience.as_secs() };
                let file = wait_as(mode, file, patience).ok_or_else(held)?.map_err(refused)?;
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

/// Whether others may hold a lock as well.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Exclusive,
    Shared,
}

/// Opens the lock called `name` in the folder `root`, and returns where it is.
fn open_named(root: &Path, name: &str) -> (PathBuf, io::Result<File>) {
    let folder = root.join(FOLDER);
    let place = folder.join(name);
    let is_folder = || if folder.symlink_metadata()?.is_dir() { Ok(()) } else { Err(io::Error::from(rustix::io::Errno::LOOP)) };
    let opened = match is_folder() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            // Somebody else may have made it in the meantime.
            _ => is_folder().and_then(|()| open(&place)),
        },
        Err(error) => Err(error),
        Ok(()) => open(&place),
    };
    (place, opened)
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
    wait_as(Mode::Exclusive, file, patience)
}

fn wait_as(mode: Mode, file: File, patience: Duration) -> Option<io::Result<File>> {
    let (sender, receiver) = sync_channel(0);
    thread::spawn(move || {
        let locked = match mode {
            Mode::Exclusive => file.lock(),
            Mode::Shared => file.lock_shared(),
        };
        let locked = locked.map(|()| file);
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

    #[test]
    fn who_shares_a_home_keeps_out_only_who_wants_it_alone() {
        let home = tempfile::tempdir().unwrap();
        let shared = [(); 2].map(|()| WriterLock::share(home.path(), Duration::ZERO).unwrap());
        let one = WriterLock::of_name(home.path(), "one", Duration::ZERO).unwrap();
        assert!(WriterLock::of_name_if_free(home.path(), "one").is_none());
        let _other = WriterLock::of_name(home.path(), "other", Duration::ZERO).unwrap();
        assert_eq!(WriterLock::acquire(home.path(), Duration::ZERO).unwrap_err().code(), memory_core::Code::Locked);
        drop((shared, one));
        let alone = WriterLock::acquire(home.path(), PATIENCE).unwrap();
        assert_eq!(WriterLock::share(home.path(), Duration::ZERO).unwrap_err().code(), memory_core::Code::Locked);
        drop(alone);
    }
}
