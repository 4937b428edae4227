//! Syncs of files and folders.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use super::file_open::open_no_follow;

/// Syncs the content of a file, unless it is a symlink.
///
/// Windows syncs only files that are open for writing, so a file with the attribute for read-only files is not synced.
///
/// # Errors
/// On an I/O error.
pub fn sync_file(path: &Path) -> io::Result<()> {
    match open_no_follow(OpenOptions::new().write(true), path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        file => file?.sync_all(),
    }
}

/// Checks that the folder exists, and syncs its entries on systems other than Windows, which cannot sync a folder.
///
/// # Errors
/// On an I/O error.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = super::file_open::open_folder(path)?;
    if cfg!(windows) {
        Ok(())
    } else {
        folder.sync_all()
    }
}

/// Returns `false`: the standard library cannot sync a file system.
///
/// # Errors
/// Never.
pub fn sync_file_system(_: &Path) -> io::Result<bool> {
    Ok(false)
}
