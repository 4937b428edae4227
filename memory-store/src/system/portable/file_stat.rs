//! The signature and the identity of a file.

use std::fs::{DirEntry, File, Metadata};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::file_open::open_folder;
use crate::disk::FileStat;
use crate::system::FileIdentity;

/// Returns the signature of a file or folder.
///
/// The inode is the creation time, and the change time is the modification time.
pub fn file_stat(found: &Metadata) -> FileStat {
    let modified_ns = found.modified().map_or(0, nanoseconds);
    let (inode, is_folder) = (creation_time(found), found.is_dir());
    FileStat {
        size: found.len(),
        modified_ns,
        changed_ns: modified_ns,
        inode,
        is_folder,
    }
}

/// Returns the inode of an entry, as in its signature.
///
/// # Errors
/// On an I/O error.
pub fn entry_inode(entry: &DirEntry) -> io::Result<u64> {
    Ok(creation_time(&entry.metadata()?))
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Returns the creation time in nanoseconds since 1970, or 0 if the file system has none.
fn creation_time(found: &Metadata) -> u64 {
    found
        .created()
        .map_or(0, |time| nanoseconds(time).cast_unsigned())
}

/// Returns the identity of the file or folder at `path`. Symlinks are followed.
///
/// # Errors
/// If it does not exist, or on an I/O error.
pub fn identity_of_path(path: &Path) -> io::Result<FileIdentity> {
    identity_of_file(&open_folder(path)?)
}

/// Returns the identity of an open file or folder.
///
/// # Errors
/// On an I/O error.
#[cfg(windows)]
pub fn identity_of_file(file: &File) -> io::Result<FileIdentity> {
    let found = winapi_util::file::information(file)?;
    Ok(FileIdentity {
        volume: found.volume_serial_number(),
        number: found.file_index(),
    })
}

/// Returns the identity of an open file or folder.
///
/// # Errors
/// On an I/O error.
#[cfg(not(windows))]
pub fn identity_of_file(file: &File) -> io::Result<FileIdentity> {
    Ok(FileIdentity {
        volume: 0,
        number: creation_time(&file.metadata()?),
    })
}

/// Returns whether an open file or folder was deleted.
#[cfg(windows)]
pub fn is_deleted(file: &File) -> bool {
    winapi_util::file::information(file).map_or(true, |found| found.number_of_links() == 0)
}

/// Returns whether an open file or folder was deleted. The standard library cannot detect it.
#[cfg(not(windows))]
pub fn is_deleted(_: &File) -> bool {
    false
}
