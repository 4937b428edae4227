//! Locks of folders.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;

/// Opens the file whose lock is the lock of a folder.
///
/// # Errors
/// If it cannot be opened.
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Returns whether a call for an open file or folder failed because its drive does not support it.
pub fn is_unsupported(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| {
        [
            Errno::NOLCK,
            Errno::NOSYS,
            Errno::OPNOTSUPP,
            Errno::INVAL,
            Errno::NODEV,
        ]
        .contains(&errno)
    })
}

/// Returns whether a read or write failed because another process holds a lock of the file.
///
/// Locks on Unix are advisory, so this never happens.
pub fn is_lock_violation(_: &io::Error) -> bool {
    false
}
