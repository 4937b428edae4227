//! Durable file access.
//!
//! All durable writes below a home go through [`Disk`], so that tests can simulate a power cut at every step. Paths are relative to the
//! home, with `/` between their components. No path leaves the home: neither through `..`, nor as an absolute path, nor through a
//! symlink.

mod case;
mod dir_handle;
mod lazy_disk;
mod lines;
mod overlay;
mod path;
mod real;
mod whole_file;

pub(crate) use case::find_case_variant;
pub use dir_handle::DirHandle;
pub(crate) use lazy_disk::LazyDisk;
pub(crate) use lines::{
    BackwardLines, ForwardLines, RawLine, append_line, invalid_lines, line_to_append,
};
pub(crate) use overlay::{FileEdit, NewFileContent, OverlayDisk};
pub use path::check_path;
pub(crate) use path::{file_name, parent_folder};
pub use real::RealDisk;
pub(crate) use whole_file::{copy_with_time, list_files, replace_file, stage_file, sync_files};

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use memory_core::MAX_MEMORY_SIZE;

/// The maximum size of a file that is read as a memory, in bytes.
pub const MAX_FILE: u64 = MAX_MEMORY_SIZE as u64;

/// A home folder on a disk.
///
/// A write is durable only after the file *and* its folder are synced. Methods that create files create missing parents; the
/// entries of the parents are synced together with the folder itself.
pub trait Disk: Debug + Send + Sync {
    /// Returns the bytes of a file and its signature, or `None` if the file does not exist.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`] beyond [`MAX_FILE`]; [`io::ErrorKind::Unsupported`] for a pipe, a socket or a device;
    /// [`io::ErrorKind::InvalidInput`] if the path leaves the home.
    fn read(&self, path: &str) -> io::Result<Option<(Vec<u8>, FileStat)>>;

    /// Returns up to `length` bytes of a file from `start`; an empty list if the file does not exist.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn read_part(&self, path: &str, start: u64, length: usize) -> io::Result<Vec<u8>>;

    /// Opens a file for reading, or returns `None` if it does not exist.
    ///
    /// The handle keeps reading the same file, even if another one replaces it.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn open(&self, path: &str) -> io::Result<Option<File>>;

    /// Returns the signature of a file or folder without reading it, or `None` if it does not exist.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn stat(&self, path: &str) -> io::Result<Option<FileStat>>;

    /// Returns the entries of a folder, unordered; an empty list if the folder does not exist.
    ///
    /// The path of the home itself is `""`, as in [`Disk::sync_folder`].
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn list_folder(&self, path: &str) -> io::Result<Vec<DirEntry>>;

    /// Creates or overwrites a file.
    ///
    /// This is neither atomic nor durable: use it for files that no other process reads.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Appends bytes to a file, which is created if missing, in one write; and syncs it.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Appends bytes like [`Disk::append`], but does not sync the file: a power failure may lose them.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Opens a file for a lock, and creates it if it is missing.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn open_lock(&self, path: &str) -> io::Result<File>;

    /// Truncates a file to `length` bytes, and syncs it.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn truncate(&self, path: &str, length: u64) -> io::Result<()>;

    /// Renames a file, and replaces an existing file at the new path.
    ///
    /// # Errors
    /// On an I/O error, or if a path leaves the home.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Gives the current content of `from` a second path, by a hard link or, where unsupported, by a copy.
    ///
    /// # Errors
    /// On an I/O error, or if a path leaves the home.
    fn hard_link(&self, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file the mode of another, and its owner and group as far as this process may.
    ///
    /// # Errors
    /// On an I/O error, or if a path leaves the home.
    fn copy_permissions(&self, path: &str, of: &str) -> io::Result<()>;

    /// Checks that this process may write to a file in place.
    ///
    /// Whether it could replace the file does not matter. A missing file passes.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] if it may not; or if the path leaves the home.
    fn check_writable(&self, path: &str) -> io::Result<()>;

    /// Deletes a file; a missing file is not an error.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn remove(&self, path: &str) -> io::Result<()>;

    /// Deletes an empty folder; a missing or non-empty folder is not an error.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn remove_folder(&self, path: &str) -> io::Result<()>;

    /// Syncs the content of a file.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn sync_file(&self, path: &str) -> io::Result<()>;

    /// Syncs the entries of a folder.
    ///
    /// # Errors
    /// On an I/O error, or if the path leaves the home.
    fn sync_folder(&self, path: &str) -> io::Result<()>;

    /// Syncs all writes so far in one call; `false` if the system does not support it.
    ///
    /// # Errors
    /// On an I/O error.
    fn sync_everything(&self) -> io::Result<bool>;
}

/// Returns for how long after `time_ns` another change could get the same time.
///
/// This is `usual_ns`, or two seconds if `time_ns` is a whole second, as on file systems with coarse times.
pub(crate) fn racy_ns(time_ns: i64, usual_ns: i64) -> i64 {
    if time_ns % 1_000_000_000 == 0 {
        2_000_000_000
    } else {
        usual_ns
    }
}

/// Returns the current system time, in nanoseconds since 1970.
///
/// It is compared only with the times of files, so the clock of a test must not replace it.
#[expect(
    clippy::disallowed_methods,
    reason = "the times of files are those of the system"
)]
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Distinguishes versions of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// The size in bytes.
    pub size: u64,
    /// The modification time, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// The change time (content, names or permissions), in nanoseconds since 1970.
    pub changed_ns: i64,
    /// The inode number.
    pub inode: u64,
    /// Whether this is a folder.
    pub is_folder: bool,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name. A name that is not UTF-8 has replacement characters and cannot be opened.
    pub name: String,
    /// The inode number.
    pub inode: u64,
    /// The type of the entry.
    pub kind: DirEntryKind,
}

/// The type of an entry of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirEntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symlink, a socket, a pipe, a device, or a name that is not UTF-8; never followed.
    Other,
}
