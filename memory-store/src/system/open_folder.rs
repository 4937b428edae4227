//! A folder whose entries are listed without opening them.

use super::current::folder_scan::FolderHandle;

/// An open folder.
///
/// On Unix it stays the same folder when its path changes; elsewhere it is the path.
#[derive(Debug)]
pub struct OpenFolder {
    pub(super) handle: FolderHandle,
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
