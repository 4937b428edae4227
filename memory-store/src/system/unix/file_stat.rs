//! The signature and the identity of a file.

use std::fs::{self, DirEntry, File, Metadata};
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::Path;

use crate::disk::FileStat;
use crate::system::FileIdentity;

/// Returns the signature of a file or folder.
pub fn file_stat(found: &Metadata) -> FileStat {
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    FileStat {
        size: found.len(),
        modified_ns: nanoseconds(found.mtime(), found.mtime_nsec()),
        changed_ns: nanoseconds(found.ctime(), found.ctime_nsec()),
        inode: found.ino(),
        is_folder: found.is_dir(),
    }
}

/// Returns the inode of an entry, as in its signature.
///
/// # Errors
/// Never on this system.
pub fn entry_inode(entry: &DirEntry) -> io::Result<u64> {
    Ok(entry.ino())
}

/// Returns the identity of an open file or folder.
///
/// # Errors
/// On an I/O error.
pub fn identity_of_file(file: &File) -> io::Result<FileIdentity> {
    Ok(identity(&file.metadata()?))
}

/// Returns the identity of the file or folder at `path`. Symlinks are followed.
///
/// # Errors
/// If it does not exist, or on an I/O error.
pub fn identity_of_path(path: &Path) -> io::Result<FileIdentity> {
    Ok(identity(&fs::metadata(path)?))
}

fn identity(found: &Metadata) -> FileIdentity {
    FileIdentity {
        volume: found.dev(),
        number: found.ino(),
    }
}

/// Returns whether an open file or folder was deleted.
pub fn is_deleted(file: &File) -> bool {
    // A deleted folder has no links.
    file.metadata().map_or(true, |found| found.nlink() == 0)
}
