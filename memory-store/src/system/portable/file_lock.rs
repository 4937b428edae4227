//! Locks of folders.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::file_open::open_no_follow;

/// The lock file of a folder, because Windows cannot lock a folder. No key, session, bank or topic has such a name, and git ignores it.
const FOLDER_LOCK: &str = ".memory.lock~";

/// `ERROR_LOCK_VIOLATION` of Windows.
const LOCK_VIOLATION: i32 = 33;

/// Opens the file whose lock is the lock of a folder.
///
/// # Errors
/// If it cannot be opened.
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    open_no_follow(&mut options, &folder.join(FOLDER_LOCK))
}

/// Returns whether a call for an open file or folder failed because its drive does not support it.
pub fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// Returns whether a read or write failed because another process holds a lock of the file.
///
/// Locks on Windows are mandatory.
pub fn is_lock_violation(error: &io::Error) -> bool {
    cfg!(windows) && error.raw_os_error() == Some(LOCK_VIOLATION)
}
