//! Opens, identifies, locks and syncs files. The permissions of a file follow from its folder, so none are read or set.

use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, DirEntry, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use memory_core::LockHolder;

use crate::disk::FileStat;
use crate::system::FileIdentity;

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

/// Held from the change of the position of a file to the end of the read or write.
static POSITION: Mutex<()> = Mutex::new(());

/// Fills `buffer` from `offset` on.
///
/// It moves the position of the file. A lock orders the calls of this process, because several handles may share a position.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if the file ends before; or on an I/O error.
pub fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let _position = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

/// Writes all bytes from `offset` on.
///
/// # Errors
/// On an I/O error.
pub fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let _position = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

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
    let folder = open_folder(path)?;
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

/// The lock file of a folder, because Windows cannot lock a folder. No key, session, bank or topic has such a name, and git ignores it.
const FOLDER_LOCK: &str = ".memory.lock~";

/// `ERROR_LOCK_VIOLATION` of Windows.
const LOCK_VIOLATION: i32 = 33;

/// Opens the file whose lock is the lock of a folder.
///
/// # Errors
/// If it cannot be opened.
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    open_no_follow(&mut options, &folder.join(FOLDER_LOCK))
}

/// Returns whether a call for an open file or folder failed because its drive does not support it.
pub fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// Returns whether a read or write failed because another process holds a lock of the file.
///
/// Locks on Windows are mandatory.
pub fn is_lock_violation(error: &io::Error) -> bool {
    cfg!(windows) && error.raw_os_error() == Some(LOCK_VIOLATION)
}

/// Returns `None`: the standard library does not report it.
pub fn lock_holder(_: &Metadata) -> Option<LockHolder> {
    None
}

/// Returns `false`: the access rules of the parent folder apply, and they are not read.
pub fn is_accessible_to_others(_: &Metadata) -> bool {
    false
}

/// Leaves the file unchanged.
///
/// # Errors
/// Never.
pub fn remove_access_of_others(_: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Changes nothing: a new folder has the access rules of its parent.
pub(crate) fn restrict_to_owner(_: &mut tempfile::Builder<'_, '_>) {}

/// Returns `None`: users have no numbers.
pub fn user_id_of_owner(_: &Path) -> Option<u32> {
    None
}

/// Returns `None`: the access rules of the parent folder apply, and they are not read.
pub fn access_of_strangers(_: &Path, _: &Metadata) -> Option<String> {
    None
}
