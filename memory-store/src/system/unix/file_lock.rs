//! Locks of folders.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens the file whose lock is the lock of a folder.
///
/// # Errors
/// If it cannot be opened.
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Returns whether a read or write failed because another process holds a lock of the file.
///
/// Locks on Unix are advisory, so this never happens.
pub fn is_lock_violation(_: &io::Error) -> bool {
    false
}
