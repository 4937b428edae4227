//! A folder, access to its entries relative to it, and the identity of a file.

use std::io;
use std::path::Path;

use super::current::folder::FolderHandle;

/// An open folder.
///
/// On Unix it stays the same folder when its path changes, and no entry of it is reached through a symlink; elsewhere it is the path.
#[derive(Debug)]
pub struct OpenFolder {
    pub(super) handle: FolderHandle,
}

impl OpenFolder {
    /// Opens the folder at `path` below `root` without following symlinks below `root`. The components are separated by `/`.
    ///
    /// # Errors
    /// As for [`OpenFolder::open_below`].
    pub fn open(root: &Path, path: &str) -> io::Result<Self> {
        Self::open_root(root)?.open_below(path)
    }
}

/// The type of an entry, without following symlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink.
    Symlink,
    /// A socket, a pipe, a device, or an entry of unknown type.
    Other,
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// Reading; a folder can be opened as well.
    Read,
    /// Writing to an existing file.
    Write,
    /// Writing to a file that is created or emptied.
    Replace,
    /// Appending to a file that is created if missing.
    Append,
    /// Locking a file that is created if missing.
    Lock,
}

/// Identifies a file or folder while it exists, regardless of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    pub(super) volume: u64,
    pub(super) number: u64,
}

impl FileIdentity {
    /// Returns whether both files are on the same file system.
    pub fn is_on_same_volume(self, other: Self) -> bool {
        self.volume == other.volume
    }
}
