//! Opens files without following symlinks, and creates files and folders that only their owner can access.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a file, unless it is a symlink.
///
/// # Errors
/// An error for which [`is_symlink_error`] is true if the path is a symlink; or on an I/O error.
pub fn open_no_follow(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_with_flags(options, path, OFlags::NOFOLLOW)
}

/// Opens a file like [`open_no_follow`], without waiting if it is a pipe.
///
/// # Errors
/// As for [`open_no_follow`]; [`io::ErrorKind::Unsupported`] for a socket.
pub fn open_no_follow_nonblocking(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_with_flags(options, path, OFlags::NOFOLLOW | OFlags::NONBLOCK).map_err(|error| {
        match Errno::from_io_error(&error) {
            // Opening a socket fails with `ENXIO`.
            Some(Errno::NXIO) => io::Error::new(
                io::ErrorKind::Unsupported,
                "not a regular file, but a pipe, a socket or a device",
            ),
            _ => error,
        }
    })
}

fn open_with_flags(options: &mut OpenOptions, path: &Path, flags: OFlags) -> io::Result<File> {
    options
        .custom_flags(i32::try_from(flags.bits()).map_err(io::Error::other)?)
        .open(path)
}

/// Opens a folder, to lock or identify it.
///
/// # Errors
/// If it cannot be opened.
pub fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Makes a file that is created with these options accessible only to its owner.
pub fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Returns a builder of folders that are accessible only to their owner.
pub fn private_folder_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Returns the error for a path that is a symlink.
pub fn symlink_error() -> io::Error {
    Errno::LOOP.into()
}

/// Returns whether a path could not be opened because it is a symlink.
pub fn is_symlink_error(error: &io::Error) -> bool {
    // The system reports `ELOOP` when a path is a symlink and is opened with `O_NOFOLLOW`.
    Errno::from_io_error(error) == Some(Errno::LOOP)
}
