//! Opens files without following symlinks, and creates files and folders in the private folder of the user.

use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file, unless it is a symlink.
///
/// A symlink that another process creates between the check and the open is followed.
///
/// # Errors
/// An error for which [`is_symlink_error`] is true if the path is a symlink; or on an I/O error.
pub fn open_no_follow(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(symlink_error());
    }
    open(options, path)
}

/// Opens a file like [`open_no_follow`], without waiting if it is a pipe.
///
/// # Errors
/// As for [`open_no_follow`]; [`io::ErrorKind::Unsupported`] for a pipe, a socket or a device.
pub fn open_no_follow_nonblocking(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(symlink_error()),
        Ok(found) if !found.is_file() && !found.is_dir() => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "not a regular file, but a pipe, a socket or a device",
        )),
        _ => open(options, path),
    }
}

/// Opens a folder, to lock or identify it.
///
/// # Errors
/// If it cannot be opened.
pub fn open_folder(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path)
}

/// Opens a file, or a folder for reading its metadata.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;

        /// Without this flag, Windows opens no folder.
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    }
    options.open(path)
}

/// Leaves the options unchanged: a new file has the access rules of its folder.
pub fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Returns a builder of folders. A new folder has the access rules of its parent.
pub fn private_folder_builder() -> DirBuilder {
    DirBuilder::new()
}

/// The error for a path that is a symlink.
#[derive(Debug)]
struct SymlinkRefused;

impl fmt::Display for SymlinkRefused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the path is a symlink, which is not followed")
    }
}

impl Error for SymlinkRefused {}

/// Returns the error for a path that is a symlink.
pub fn symlink_error() -> io::Error {
    io::Error::other(SymlinkRefused)
}

/// Returns whether a path could not be opened because it is a symlink.
pub fn is_symlink_error(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn Error + Send + Sync>::is::<SymlinkRefused>)
}
