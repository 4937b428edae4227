//! The lock that allows one daemon at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use memory_core::StoreError;

use crate::error::io_error;
use crate::lock::lock_file_within;
use crate::system::{lock_holder, owner_only};

/// The lock file of a daemon.
const NAME: &str = ".daemon.lock";

/// Lock timeout: a check for a running daemon holds the lock only briefly.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// The lock of the daemon of a home, until dropped. The system releases it when the process dies.
///
/// Only the lock counts, so the file of a killed daemon blocks no other one. The process id in the file is informational.
#[derive(Debug)]
pub struct DaemonLock {
    file: File,
}

/// A running daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaemonProcess {
    /// The id of the process, if it can be read; on Windows no other process can read a locked file.
    pub pid: Option<u32>,
}

impl DaemonLock {
    /// Acquires the daemon lock of the home at `root`, and writes `pid` into the lock file.
    ///
    /// # Errors
    /// [`StoreError::DaemonRunning`] if another daemon holds the lock, or an I/O error.
    pub fn acquire(root: &Path, pid: u32) -> Result<Self, StoreError> {
        let refused = |error| io_error(format!("lock {}", root.join(NAME).display()), error);
        let file = open(root, true).map_err(refused)?;
        let place = root.join(NAME);
        let mut file = match lock_file_within(file, &place, LOCK_TIMEOUT) {
            Ok(file) => file,
            Err(StoreError::Locked { holder, .. }) => {
                return Err(StoreError::DaemonRunning {
                    home: root.display().to_string(),
                    pid: read_pid(root).or(holder.map(|holder| holder.pid)),
                });
            }
            Err(error) => return Err(error),
        };
        write(&mut file, &format!("{pid}\n")).map_err(refused)?;
        Ok(Self { file })
    }

    /// Returns the running daemon of the home at `root`, if there is one.
    ///
    /// # Errors
    /// If the lock file cannot be checked.
    pub fn find_running(root: &Path) -> Result<Option<DaemonProcess>, StoreError> {
        let refused = |error| io_error(format!("check {}", root.join(NAME).display()), error);
        let file = match open(root, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(refused)?,
        };
        match file.try_lock_shared() {
            Ok(()) => {
                let _ = file.unlock();
                Ok(None)
            }
            Err(TryLockError::WouldBlock) => {
                let holder = || lock_holder(&file.metadata().ok()?);
                Ok(Some(DaemonProcess {
                    pid: read_pid(root).or_else(|| holder().map(|holder| holder.pid)),
                }))
            }
            Err(TryLockError::Error(error)) => Err(refused(error)),
        }
    }
}

impl Drop for DaemonLock {
    fn drop(&mut self) {
        // The file is not removed: other processes may wait for its lock.
        let _ = write(&mut self.file, "");
        let _ = self.file.unlock();
    }
}

fn open(root: &Path, make: bool) -> io::Result<File> {
    owner_only(
        OpenOptions::new()
            .read(true)
            .write(make)
            .create(make)
            .truncate(false),
    )
    .open(root.join(NAME))
}

fn write(file: &mut File, text: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

fn read_pid(root: &Path) -> Option<u32> {
    let mut text = String::new();
    open(root, false)
        .ok()?
        .take(32)
        .read_to_string(&mut text)
        .ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use memory_core::testing::wait_until;

    use super::*;

    #[cfg(all(target_os = "linux", not(portable_system)))]
    #[test]
    fn the_system_names_who_holds_the_lock_if_the_file_does_not() {
        let home = tempfile::tempdir().unwrap();
        let held = open(home.path(), true).unwrap();
        held.lock().unwrap();
        let own = Some(std::process::id());
        let running = DaemonLock::find_running(home.path()).unwrap().unwrap();
        assert_eq!(running.pid, own);
        assert!(matches!(
            DaemonLock::acquire(home.path(), 1),
            Err(StoreError::DaemonRunning { pid, .. }) if pid == own
        ));
    }

    #[test]
    fn a_second_daemon_is_refused_with_the_number_of_the_first_and_let_in_after() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(DaemonLock::find_running(home.path()).unwrap(), None);
        let first = DaemonLock::acquire(home.path(), 41).unwrap();
        let refusal = DaemonLock::acquire(home.path(), 42).unwrap_err();
        assert_eq!(refusal.code(), memory_core::Code::DaemonRunning);
        assert!(refusal.to_string().contains("41"), "{refusal}");
        assert_eq!(
            DaemonLock::find_running(home.path()).unwrap(),
            Some(DaemonProcess { pid: Some(41) })
        );
        drop(first);
        // A process that another test starts shares the lock until its `exec`.
        wait_until("the lock is free", || {
            DaemonLock::find_running(home.path()).unwrap().is_none()
        });
        DaemonLock::acquire(home.path(), 42).unwrap();
    }

    #[test]
    fn what_a_dead_daemon_left_behind_refuses_nobody() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(NAME), "1\n").unwrap();
        assert_eq!(DaemonLock::find_running(home.path()).unwrap(), None);
        let _lock = DaemonLock::acquire(home.path(), 42).unwrap();
        assert_eq!(
            DaemonLock::find_running(home.path()).unwrap(),
            Some(DaemonProcess { pid: Some(42) })
        );
    }
}
