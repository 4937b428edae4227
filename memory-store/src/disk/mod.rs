//! How bytes reach the disk and stay there.
//!
//! Everything that is written below a home goes through [`Disk`], so that tests can cut the power at every step. Paths
//! are relative to the home, with `/` between their parts. No path leaves the home: neither by `..`, nor by being
//! absolute, nor through a symlink.

mod anchor;
mod case;
mod copy;
mod late;
mod line;
mod path;
mod real;

pub use anchor::Anchor;
pub(crate) use case::other_case;
pub(crate) use copy::copy_with_time;
pub(crate) use late::LateDisk;
pub(crate) use line::append_line;
pub use path::check_path;
pub use real::RealDisk;

use std::fmt::Debug;
use std::fs::File;
use std::io;

/// The longest file that is read as a memory, in bytes.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;

/// A home folder on a disk.
///
/// Nothing is durable before the file *and* its folder were synced. Missing parents are made by those calls that make
/// files; their entries are synced along with the folder itself.
pub trait Disk: Debug + Send + Sync {
    /// Returns the bytes of a file and its signature, or `None` if there is no such file.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`] beyond [`MAX_FILE`]; [`io::ErrorKind::Unsupported`] for a pipe, a socket or a device; [`io::ErrorKind::InvalidInput`] if the path leaves the home.
    fn read(&self, path: &str) -> io::Result<Option<(Vec<u8>, Signature)>>;

    /// Returns up to `length` bytes of a file from `start` on, fewer at its end; nothing if there is no such file.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn read_part(&self, path: &str, start: u64, length: usize) -> io::Result<Vec<u8>>;

    /// Opens a file to be read, or returns `None` if there is no such file. What is read through it stays that of this file, whatever
    /// takes its place in the meantime.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn open(&self, path: &str) -> io::Result<Option<File>>;

    /// Returns the signature of a file or folder without reading it, or `None` if there is none.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn signature(&self, path: &str) -> io::Result<Option<Signature>>;

    /// Returns what is in a folder, in no order; nothing if there is no such folder. The home itself is `""`, as in
    /// [`Disk::sync_folder`].
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn folder(&self, path: &str) -> io::Result<Vec<Entry>>;

    /// Writes a file anew, or over the one that is there. Neither atomic nor durable: for files nobody else looks at.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Adds bytes to the end of a file, made if it is missing, as one write; and syncs it.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file off behind `length` bytes, and syncs it.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn shorten(&self, path: &str, length: u64) -> io::Result<()>;

    /// Gives a file a new name, over whatever has that name.
    ///
    /// # Errors
    /// When the disk refuses, or a path leaves the home.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Keeps what `from` holds now under a second name as well: by a hard link, or by a copy where there are none.
    ///
    /// # Errors
    /// When the disk refuses, or a path leaves the home.
    fn keep(&self, from: &str, to: &str) -> io::Result<()>;

    /// Gives a file the mode of another, and its owner and group as far as this process may.
    ///
    /// # Errors
    /// When the disk refuses, or a path leaves the home.
    fn take_rights(&self, path: &str, of: &str) -> io::Result<()>;

    /// Does nothing if this process may write a file as it lies there, whether or not it could put another in its place; nor if there is
    /// none.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] if it may not; or when the path leaves the home.
    fn check_writable(&self, path: &str) -> io::Result<()>;

    /// Removes a file; nothing happens if it is gone already.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn remove(&self, path: &str) -> io::Result<()>;

    /// Removes an empty folder; nothing happens if it is gone already or not empty.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn remove_folder(&self, path: &str) -> io::Result<()>;

    /// Makes the bytes of a file durable.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn sync_file(&self, path: &str) -> io::Result<()>;

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// When the disk refuses, or the path leaves the home.
    fn sync_folder(&self, path: &str) -> io::Result<()>;

    /// Makes everything durable that was written so far, at once; `false` if this system has no way to.
    ///
    /// # Errors
    /// When the disk refuses.
    fn sync_everything(&self) -> io::Result<bool>;
}

/// Returns how long after `time_ns` another change could have the same time: `usual_ns`, but on file systems that keep whole seconds.
pub(crate) fn racy_ns(time_ns: i64, usual_ns: i64) -> i64 {
    if time_ns % 1_000_000_000 == 0 { 2_000_000_000 } else { usual_ns }
}

/// Tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The size in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// When it, its names or its rights were last changed, in nanoseconds since 1970.
    pub changed_ns: i64,
    /// Its number in the file system.
    pub inode: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name. One that is no UTF-8 comes with replacement characters and is not to be opened.
    pub name: String,
    /// Its number in the file system.
    pub inode: u64,
    /// What it is.
    pub kind: EntryKind,
}

/// What something in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symlink, a socket, or a name that is no UTF-8: it is never followed.
    Other,
}
