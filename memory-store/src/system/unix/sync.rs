//! Syncs of files, folders and file systems.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use memory_core::UnsupportedDrive;

use super::file_lock::is_unsupported;
use super::file_open::open_no_follow_nonblocking;

/// Syncs the content of a file, unless it is a symlink.
///
/// # Errors
/// On an I/O error.
pub fn sync_file(path: &Path) -> io::Result<()> {
    open_no_follow_nonblocking(OpenOptions::new().read(true), path)?.sync_all()
}

/// Syncs the entries of a folder.
///
/// # Errors
/// On an I/O error.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    sync_opened_folder(&File::open(path)?)
}

/// Syncs the entries of an open folder.
///
/// # Errors
/// [`UnsupportedDrive`], or an I/O error.
pub(super) fn sync_opened_folder(folder: &File) -> io::Result<()> {
    folder.sync_all().map_err(|error| {
        if is_unsupported(&error) {
            UnsupportedDrive::error("syncs of folders", error)
        } else {
            error
        }
    })
}

/// Syncs the file system of the folder at `path`; `false` if the system does not support it.
///
/// # Errors
/// On an I/O error.
#[cfg(target_os = "linux")]
pub fn sync_file_system(path: &Path) -> io::Result<bool> {
    rustix::fs::syncfs(File::open(path)?)?;
    Ok(true)
}

/// Syncs the file system of the folder at `path`; `false` if the system does not support it.
///
/// # Errors
/// Never on this system.
#[cfg(not(target_os = "linux"))]
pub fn sync_file_system(_: &Path) -> io::Result<bool> {
    Ok(false)
}
