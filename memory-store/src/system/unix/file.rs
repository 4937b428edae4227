//! Opens, identifies, locks and syncs files, and reads and sets their permissions.

use std::fs::{self, DirBuilder, DirEntry, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt, DirEntryExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt,
};
use std::path::Path;

use memory_core::{LockHolder, UnsupportedDrive};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::disk::FileStat;
use crate::system::FileIdentity;

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

/// Fills `buffer` from `offset` on.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if the file ends before; or on an I/O error.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Writes all bytes from `offset` on.
///
/// # Errors
/// On an I/O error.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Syncs the content of a file, unless it is a symlink.
///
/// # Errors
/// On an I/O error.
pub fn sync_file(path: &Path) -> io::Result<()> {
    open_no_follow_nonblocking(OpenOptions::new().read(true), path)?.sync_all()
}

/// Syncs the entries of a folder.
///
/// # Errors
/// On an I/O error.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    sync_opened_folder(&File::open(path)?)
}

/// Syncs the entries of an open folder.
///
/// # Errors
/// [`UnsupportedDrive`], or an I/O error.
pub(super) fn sync_opened_folder(folder: &File) -> io::Result<()> {
    folder.sync_all().map_err(|error| {
        if is_unsupported(&error) {
            UnsupportedDrive::error("syncs of folders", error)
        } else {
            error
        }
    })
}

/// Syncs the file system of the folder at `path`; `false` if the system does not support it.
///
/// # Errors
/// On an I/O error.
#[cfg(target_os = "linux")]
pub fn sync_file_system(path: &Path) -> io::Result<bool> {
    rustix::fs::syncfs(File::open(path)?)?;
    Ok(true)
}

/// Syncs the file system of the folder at `path`; `false` if the system does not support it.
///
/// # Errors
/// Never on this system.
#[cfg(not(target_os = "linux"))]
pub fn sync_file_system(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Opens the file whose lock is the lock of a folder.
///
/// # Errors
/// If it cannot be opened.
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Returns whether a call for an open file or folder failed because its drive does not support it.
pub fn is_unsupported(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| {
        [
            Errno::NOLCK,
            Errno::NOSYS,
            Errno::OPNOTSUPP,
            Errno::INVAL,
            Errno::NODEV,
        ]
        .contains(&errno)
    })
}

/// Returns whether a read or write failed because another process holds a lock of the file.
///
/// Locks on Unix are advisory, so this never happens.
pub fn is_lock_violation(_: &io::Error) -> bool {
    false
}

/// Returns a process that holds a lock of the file with this metadata; `None` if the system does not report it.
///
/// The file is not opened: closing it would release locks that this process holds.
#[cfg(target_os = "linux")]
pub fn lock_holder(found: &Metadata) -> Option<LockHolder> {
    let table = fs::read_to_string("/proc/locks").ok()?;
    let volume = (
        rustix::fs::major(found.dev()),
        rustix::fs::minor(found.dev()),
    );
    let pid = find_holder(&table, volume, found.ino(), std::process::id())?;
    // A process that has ended left the lock to a process that it started.
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(LockHolder::new(pid, &name))
}

/// Returns `None`: the system does not report it.
#[cfg(not(target_os = "linux"))]
pub fn lock_holder(_: &Metadata) -> Option<LockHolder> {
    None
}

/// Returns the holder of a lock of a file in a table in the format of `proc_locks(5)`.
///
/// A writer counts before readers, and another process before this one, whose id is `own`. Some file systems report another device, so
/// the number of the file counts alone if it finds one process.
#[cfg(target_os = "linux")]
fn find_holder(table: &str, volume: (u32, u32), inode: u64, own: u32) -> Option<u32> {
    let holder = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // A line with an arrow is a process that waits.
        let [_, "FLOCK" | "POSIX", _, access, pid, file, ..] = fields.as_slice() else {
            return None;
        };
        let (device, number) = file.rsplit_once(':')?;
        let (major, minor) = device.split_once(':')?;
        let parse = |text| u32::from_str_radix(text, 16).ok();
        let is_volume = (parse(major)?, parse(minor)?) == volume;
        let pid: u32 = pid.parse().ok().filter(|pid| 0 < *pid)?;
        (number.parse() == Ok(inode)).then_some((is_volume, *access != "WRITE", pid == own, pid))
    };
    let mut holders: Vec<_> = table.lines().filter_map(holder).collect();
    if holders.iter().any(|(is_volume, ..)| *is_volume) {
        holders.retain(|(is_volume, ..)| *is_volume);
    } else if holders.iter().any(|(.., pid)| *pid != holders[0].3) {
        return None;
    }
    holders.into_iter().min().map(|(.., pid)| pid)
}

/// Returns whether users other than the owner have access to a file or folder.
pub fn is_accessible_to_others(found: &Metadata) -> bool {
    found.permissions().mode() & 0o077 != 0
}

/// Removes all permissions of group and others from a file, of which `found` is the metadata.
///
/// # Errors
/// If the permissions cannot be changed.
pub fn remove_access_of_others(path: &Path, found: &Metadata) -> io::Result<()> {
    if !is_accessible_to_others(found) {
        return Ok(());
    }
    fs::set_permissions(
        path,
        Permissions::from_mode(found.permissions().mode() & 0o700),
    )
}

/// Lets the builder of a temporary folder give access to its owner only.
pub(crate) fn restrict_to_owner(folder: &mut tempfile::Builder<'_, '_>) {
    folder.permissions(Permissions::from_mode(0o700));
}

/// Returns the id of the user who owns a file or folder, if the system has such ids.
pub fn user_id_of_owner(path: &Path) -> Option<u32> {
    Some(path.metadata().ok()?.uid())
}

/// Returns why users other than this one and root can change the file or folder at `place` with the metadata `found`, if they can.
///
/// A group with the number of the owner is the private group that many systems create for each user. With an access control list, the
/// permissions of the group are those of all users that it lists.
pub fn access_of_strangers(place: &Path, found: &Metadata) -> Option<String> {
    let (owner, own) = (found.uid(), rustix::process::geteuid().as_raw());
    let mode = found.mode() & 0o777;
    let is_group_own = found.gid() == owner && !(mode & 0o020 != 0 && has_access_list(place));
    let writers = if is_group_own { 0o002 } else { 0o022 };
    if owner != own && owner != 0 {
        Some(format!("belongs to another user (uid {owner})"))
    } else if !found.is_symlink() && mode & writers != 0 {
        Some(format!("can be changed by other users (mode {mode:04o})"))
    } else {
        None
    }
}

/// Returns whether a file or folder has an access control list.
#[cfg(target_os = "linux")]
fn has_access_list(place: &Path) -> bool {
    rustix::fs::lgetxattr_query(place, c"system.posix_acl_access").is_ok()
}

#[cfg(not(target_os = "linux"))]
fn has_access_list(_: &Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_the_one_of_its_file_and_not_who_waits() {
        let table = "1: FLOCK  ADVISORY  WRITE 100 08:01:77 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 101 08:01:77 0 EOF\n\
                     2: POSIX  ADVISORY  READ  102 08:01:78 128 128\n\
                     3: POSIX  ADVISORY  WRITE 103 08:01:78 120 120\n\
                     4: FLOCK  ADVISORY  READ  104 103:0a:77 0 EOF\n\
                     5: FLOCK  ADVISORY  READ  105 103:0a:77 0 EOF\n\
                     6: OFDLCK ADVISORY  READ  -1 08:01:79 0 EOF\n\
                     7: FLOCK  ADVISORY  WRITE 0 08:01:80 0 EOF\n\
                     8: LEASE  ACTIVE    READ  106 08:01:81 0 EOF\n";
        let holder = |volume, inode, own| find_holder(table, volume, inode, own);
        assert_eq!(holder((8, 1), 77, 1), Some(100));
        assert_eq!(holder((8, 1), 78, 1), Some(103), "who writes");
        assert_eq!(holder((0x103, 10), 77, 104), Some(105), "not this process");
        assert_eq!(holder((0x103, 10), 77, 1), Some(104));
        assert_eq!(holder((0, 44), 78, 102), None, "two processes");
        assert_eq!(
            find_holder("1: FLOCK ADVISORY WRITE 7 08:01:9 0 EOF", (0, 44), 9, 1),
            Some(7),
            "a file system with another device"
        );
        for inode in [76, 79, 80, 81] {
            assert_eq!(holder((8, 1), inode, 1), None, "{inode}");
        }
        assert_eq!(find_holder("1: FLOCK\n\n?", (8, 1), 77, 1), None);
    }

    #[test]
    fn the_system_names_this_process_for_a_lock_of_its_own() {
        let file = tempfile::tempfile().unwrap();
        let holder = |file: &File| lock_holder(&file.metadata().unwrap());
        assert_eq!(holder(&file), None);
        file.lock().unwrap();
        let found = holder(&file).unwrap();
        assert_eq!(found.pid, std::process::id());
        assert!(found.program.is_some());
    }
}
