//! Locks that serialize writers.
//!
//! No lock is given for a folder with a newer format, which only a newer version may change.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use memory_core::{StoreError, UnsupportedDrive};

use crate::disk::Disk;
use crate::error::path_error;
use crate::folder_format;
use crate::system;

/// The lock file of a home.
///
/// It is outside the index folder, because that folder may be deleted at any time.
pub(crate) const LOCK_FILE: &str = ".lock";

/// The folder of the locks for single files.
pub(crate) const FOLDER: &str = ".locks";

/// The default timeout for a lock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// An exclusive or shared lock, released on drop or when the process exits.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A child process has a copy of the file until it executes its program. Closing the file alone would leave the lock to it.
        let _ = self.file.unlock();
    }
}

impl WriterLock {
    /// Waits for the exclusive lock of the home at `root`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn acquire(
        disk: &dyn Disk,
        root: &Path,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        Self::acquire_file(disk, root, LOCK_FILE, patience)
    }

    /// Waits for the exclusive lock of the lock file at `path`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn acquire_file(
        disk: &dyn Disk,
        root: &Path,
        path: &str,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        Self::acquire_object(LockMode::Exclusive, disk, root, path, root, patience)
    }

    /// Waits for a shared lock of the home at `root`, which excludes only [`WriterLock::acquire`].
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn acquire_shared(
        disk: &dyn Disk,
        root: &Path,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        Self::acquire_object(LockMode::Shared, disk, root, LOCK_FILE, root, patience)
    }

    /// Waits for the exclusive lock of the file `name` in the folder `root`.
    ///
    /// The file need not exist. Names are hashed to 256 lock files, so two files sometimes share a lock. Lock files are never
    /// deleted, because another process may wait for one.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn acquire_for_file(
        disk: &dyn Disk,
        root: &Path,
        name: &str,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let path = format!("{FOLDER}/{:02x}", crc32fast::hash(name.as_bytes()) & 0xff);
        let object = root.join(name);
        Self::acquire_object(LockMode::Exclusive, disk, root, &path, &object, patience)
    }

    /// Waits for the lock called `name` in the folder `root`; each name has its own lock file.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn acquire_named(
        disk: &dyn Disk,
        root: &Path,
        name: &str,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let path = format!("{FOLDER}/{name}");
        let object = root.join(name);
        Self::acquire_object(LockMode::Exclusive, disk, root, &path, &object, patience)
    }

    /// Waits for the lock of the lock file at `path`. Messages name the locked `object`.
    fn acquire_object(
        mode: LockMode,
        disk: &dyn Disk,
        root: &Path,
        path: &str,
        object: &Path,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let places = [&root.join(path), object];
        Self::lock(mode, disk.open_lock(path), places, root, patience)
    }

    /// Returns the lock called `name` of the folder of `disk` if it is free.
    ///
    /// # Errors
    /// As for [`WriterLock::try_acquire_file`].
    pub(crate) fn try_acquire_named(disk: &dyn Disk, name: &str) -> Result<Self, TryLockError> {
        Self::try_acquire_file(disk, &format!("{FOLDER}/{name}"))
    }

    /// Returns the lock of the lock file at `path` if it is free.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another process has the lock.
    pub(crate) fn try_acquire_file(disk: &dyn Disk, path: &str) -> Result<Self, TryLockError> {
        let file = disk.open_lock(path).map_err(TryLockError::Error)?;
        Self::try_file(file)
    }

    /// Locks an open file.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another process has the lock.
    pub(crate) fn try_file(file: File) -> Result<Self, TryLockError> {
        file.try_lock().map(|()| Self { file })
    }

    /// Waits for a lock of the folder `root` itself, on Unix without a lock file in it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] after `patience`.
    pub(crate) fn acquire_folder(root: &Path, patience: Duration) -> Result<Self, StoreError> {
        let opened = system::open_folder_lock(root);
        Self::lock(LockMode::Exclusive, opened, [root; 2], root, patience)
    }

    /// Writes a new random generation number to the lock file, and returns it.
    ///
    /// Other processes compare it with [`generation`] to detect the write.
    pub(crate) fn write_generation(&self) -> u64 {
        let mut bytes = [0; 8];
        // On failure, other processes detect the write a little later by the modification times of the files.
        if getrandom::fill(&mut bytes).is_ok() {
            let _ = system::write_all_at(&self.file, &bytes, 0);
        }
        u64::from_ne_bytes(bytes)
    }

    /// Locks the opened lock file of an object in the folder `root`.
    fn lock(
        mode: LockMode,
        opened: io::Result<File>,
        [place, object]: [&Path; 2],
        root: &Path,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        folder_format::check_writable(root)?;
        let file = opened.map_err(|error| lock_error(place, error))?;
        lock_within(mode, file, place, object, patience).map(|file| Self { file })
    }
}

/// Waits for the exclusive lock of the file at `place`, at most for `patience`.
///
/// # Errors
/// [`StoreError::Locked`] with the process that holds the lock, or an I/O error.
pub fn lock_file_within(file: File, place: &Path, patience: Duration) -> Result<File, StoreError> {
    lock_within(LockMode::Exclusive, file, place, place, patience)
}

/// Waits for a lock of the file at `place`, at most for `patience`. Messages name the locked `object`.
///
/// # Errors
/// [`StoreError::Locked`] with the process that holds the lock, or an I/O error.
pub(crate) fn lock_within(
    mode: LockMode,
    file: File,
    place: &Path,
    object: &Path,
    patience: Duration,
) -> Result<File, StoreError> {
    let tried = match mode {
        LockMode::Exclusive => file.try_lock(),
        LockMode::Shared => file.try_lock_shared(),
    };
    match tried {
        Ok(()) => return Ok(file),
        Err(TryLockError::Error(error)) => return Err(lock_error(place, error)),
        Err(TryLockError::WouldBlock) => {}
    }
    let found = file.metadata();
    match wait_with_mode(mode, file, patience) {
        Some(locked) => locked.map_err(|error| lock_error(place, error)),
        None => Err(StoreError::Locked {
            home: object.display().to_string(),
            seconds: patience.as_secs(),
            holder: found.ok().and_then(|found| system::lock_holder(&found)),
        }),
    }
}

fn lock_error(place: &Path, error: io::Error) -> StoreError {
    let error = if system::is_unsupported(&error) {
        UnsupportedDrive::error("locks", error)
    } else {
        error
    };
    path_error("lock", &place.display().to_string(), error)
}

/// Returns the generation number of the home on `disk`, or 0 if there is none.
///
/// [`WriterLock::write_generation`] writes it.
pub(crate) fn read_generation(disk: &dyn Disk) -> u64 {
    let mut bytes = [0; 8];
    let opened = disk
        .open(LOCK_FILE)
        .and_then(|file| file.ok_or_else(|| io::ErrorKind::NotFound.into()));
    match opened.and_then(|file| system::read_exact_at(&file, &mut bytes, 0)) {
        Ok(()) => u64::from_ne_bytes(bytes),
        // A writer holds the lock, so no generation that was read before is current.
        Err(error) if system::is_lock_violation(&error) => getrandom::u64().unwrap_or_default(),
        Err(_) => 0,
    }
}

/// Whether the lock is exclusive.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LockMode {
    Exclusive,
    Shared,
}

/// Waits for a lock of a file, at most for `patience`.
///
/// The wait runs on a separate thread, because the system offers only a blocking call without a timeout and a non-blocking one.
/// Waiting processes get the lock in the order of their calls. If the caller has timed out, the thread releases the lock as soon
/// as it gets it.
fn wait_with_mode(mode: LockMode, file: File, patience: Duration) -> Option<io::Result<File>> {
    let (sender, receiver) = sync_channel(0);
    thread::spawn(move || {
        let locked = match mode {
            LockMode::Exclusive => file.lock(),
            LockMode::Shared => file.lock_shared(),
        };
        let locked = locked.map(|()| file);
        // This fails if the receiver was dropped; then the file is closed here, which releases the lock.
        let _ = sender.send(locked);
    });
    receiver.recv_timeout(patience).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[cfg(all(unix, not(portable_system)))]
    #[test]
    fn a_drive_without_locks_is_named_with_the_next_step() {
        for errno in [rustix::io::Errno::NOLCK, rustix::io::Errno::INVAL] {
            let error = lock_error(Path::new("/drive/.lock"), errno.into());
            let chain = memory_core::text::format_error_chain(&error);
            let start =
                "cannot lock /drive/.lock: the drive of this folder does not support locks: ";
            assert!(chain.starts_with(start), "{chain}");
            assert!(
                error
                    .hint()
                    .is_some_and(|hint| hint.contains("MEMORY_ROOT"))
            );
        }
    }

    #[test]
    fn a_dropped_lock_is_free_although_a_forked_process_has_a_copy_of_the_file() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let first = WriterLock::acquire(&disk, home.path(), Duration::ZERO).unwrap();
        let _copy = first.file.try_clone().unwrap();
        drop(first);
        WriterLock::acquire(&disk, home.path(), Duration::ZERO).unwrap();
    }

    #[test]
    fn a_second_writer_is_refused_while_the_first_writes_and_let_in_after() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let first = WriterLock::acquire(&disk, home.path(), Duration::ZERO).unwrap();
        let refusal = WriterLock::acquire(&disk, home.path(), Duration::ZERO).unwrap_err();
        assert_eq!(refusal.code(), memory_core::Code::Locked);
        let named = |text: String| text.contains(&std::process::id().to_string());
        assert!(
            refusal
                .to_string()
                .contains(&home.path().display().to_string())
        );
        if cfg!(all(target_os = "linux", not(portable_system))) {
            assert!(named(refusal.to_string()), "{refusal}");
            assert!(named(refusal.hint().unwrap()), "{refusal}");
        }
        drop(first);
        WriterLock::acquire(&disk, home.path(), PATIENCE).unwrap();
    }

    #[test]
    fn who_writes_to_one_file_does_not_wait_for_who_writes_to_another() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let _one =
            WriterLock::acquire_for_file(&disk, home.path(), "a.jsonl", Duration::ZERO).unwrap();
        let _other =
            WriterLock::acquire_for_file(&disk, home.path(), "b.jsonl", Duration::ZERO).unwrap();
        let refusal = WriterLock::acquire_for_file(&disk, home.path(), "a.jsonl", Duration::ZERO)
            .unwrap_err();
        assert_eq!(refusal.code(), memory_core::Code::Locked);
        assert!(refusal.to_string().contains("a.jsonl"), "{refusal}");
    }

    #[test]
    fn who_shares_a_home_keeps_out_only_who_wants_it_alone() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let shared = [(); 2]
            .map(|()| WriterLock::acquire_shared(&disk, home.path(), Duration::ZERO).unwrap());
        let one = WriterLock::acquire_named(&disk, home.path(), "one", Duration::ZERO).unwrap();
        assert!(WriterLock::try_acquire_named(&disk, "one").is_err());
        let _other =
            WriterLock::acquire_named(&disk, home.path(), "other", Duration::ZERO).unwrap();
        assert_eq!(
            WriterLock::acquire(&disk, home.path(), Duration::ZERO)
                .unwrap_err()
                .code(),
            memory_core::Code::Locked
        );
        drop((shared, one));
        let alone = WriterLock::acquire(&disk, home.path(), PATIENCE).unwrap();
        assert_eq!(
            WriterLock::acquire_shared(&disk, home.path(), Duration::ZERO)
                .unwrap_err()
                .code(),
            memory_core::Code::Locked
        );
        drop(alone);
    }
}
