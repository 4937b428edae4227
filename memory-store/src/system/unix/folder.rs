//! Opens, lists and changes the entries of a folder by its file descriptor.

use std::ffi::CStr;
pub(in crate::system) use std::fs::File as FolderHandle;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fchmod, fstat, linkat, mkdirat, openat, renameat,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::file::sync_opened_folder;
use crate::disk::FileStat;
use crate::system::{EntryType, FileAccess, OpenFolder};

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl OpenFolder {
    /// Opens the folder at `path`. Symlinks are followed.
    ///
    /// # Errors
    /// If it does not exist or is not a folder; or on an I/O error.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        Ok(rustix::fs::open(path, FOLDER, Mode::empty())?.into())
    }

    /// Opens the folder at `path` below this one without following symlinks. The components are separated by `/`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it does not exist; [`io::ErrorKind::NotADirectory`], or an error for which
    /// [`is_symlink_error`](crate::system::is_symlink_error) is true, if a component is not a folder; or on an I/O error.
    pub fn open_below(&self, path: &str) -> io::Result<Self> {
        let mut opened: Option<Self> = None;
        for part in path.split('/') {
            let folder = opened.as_ref().unwrap_or(self);
            opened = Some(folder.open_folder(part)?);
        }
        opened.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn open_folder(&self, name: &str) -> io::Result<Self> {
        match openat(&self.handle, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(folder) => Ok(folder.into()),
            // Linux reports a symlink as something else than a folder.
            Err(Errno::NOTDIR) if matches!(self.stat_entry(name), Ok((_, EntryType::Symlink))) => {
                Err(Errno::LOOP.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the metadata of the folder.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.handle.metadata()
    }

    /// Opens a file, unless it is a symlink. A file that is created is accessible only to its owner. A pipe is not waited for.
    ///
    /// # Errors
    /// An error for which [`is_symlink_error`](crate::system::is_symlink_error) is true if it is a symlink;
    /// [`io::ErrorKind::Unsupported`] for a socket or a pipe; or on an I/O error.
    pub fn open_file(&self, name: &str, access: FileAccess) -> io::Result<File> {
        let access = match access {
            FileAccess::Read => OFlags::RDONLY,
            FileAccess::Write => OFlags::WRONLY,
            FileAccess::Replace => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
            FileAccess::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
            FileAccess::Lock => OFlags::RDWR | OFlags::CREATE,
        };
        let flags = access | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        match openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(file.into()),
            // A socket, or a pipe that nobody reads.
            Err(Errno::NXIO) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "not a regular file, but a pipe, a socket or a device",
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a folder that is accessible only to its owner.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn create_folder(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(&self.handle, name, Mode::RWXU)?)
    }

    /// Renames an entry, and replaces a file at the new place.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn rename(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        Ok(renameat(&self.handle, name, &to.handle, new_name)?)
    }

    /// Gives a file a second name.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn hard_link(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        Ok(linkat(
            &self.handle,
            name,
            &to.handle,
            new_name,
            AtFlags::empty(),
        )?)
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Deletes an empty folder.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Gives a file the mode of another without write access for all users, and its owner and group as far as this process may.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if one of them is not a regular file; or on an I/O error.
    pub fn copy_permissions(&self, name: &str, of: &Self, other: &str) -> io::Result<()> {
        let file = self.open_file(name, FileAccess::Read)?;
        let own = file.metadata()?;
        let other = statat(&of.handle, other, AtFlags::SYMLINK_NOFOLLOW)?;
        if !own.is_file() || FileType::from_raw_mode(other.st_mode) != FileType::RegularFile {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mode = Mode::from_raw_mode(other.st_mode) & Mode::from_raw_mode(0o775);
        // Only a privileged process may change the owner; the others set the group and mode as far as they may.
        let is_given = own.uid() != other.st_uid
            && fchown(&file, Some(other.st_uid), Some(other.st_gid)).is_ok();
        if !is_given && own.gid() != other.st_gid {
            let _ = fchown(&file, None, Some(other.st_gid));
        }
        Ok(fchmod(&file, mode)?)
    }

    /// Syncs the content of a file, unless it is a symlink.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn sync_file(&self, name: &str) -> io::Result<()> {
        self.open_file(name, FileAccess::Read)?.sync_all()
    }

    /// Syncs the entries of the folder.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn sync(&self) -> io::Result<()> {
        sync_opened_folder(&self.handle)
    }
}

impl From<OwnedFd> for OpenFolder {
    fn from(folder: OwnedFd) -> Self {
        Self {
            handle: folder.into(),
        }
    }
}

impl OpenFolder {
    /// Returns the modification time of the folder in nanoseconds since 1970.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn modified_ns(&self) -> io::Result<i64> {
        Ok(file_stat(&fstat(&self.handle)?).modified_ns)
    }

    /// Calls `each` with the name, type and inode of every entry, unordered. The entries `.` and `..` may be among them.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn each_entry(&self, each: &mut dyn FnMut(&CStr, EntryType, u64)) -> io::Result<()> {
        each_raw_entry(&self.handle, &mut |name, file_type, inode| {
            let file_type = match file_type {
                FileType::Unknown => statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |found| {
                        FileType::from_raw_mode(found.st_mode)
                    }),
                file_type => file_type,
            };
            each(name, entry_type(file_type), inode);
        })
    }

    /// Returns whether an entry is a folder or a symlink to one.
    pub fn leads_to_folder(&self, name: &CStr) -> bool {
        statat(&self.handle, name, AtFlags::empty())
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    /// Returns the signature and the type of an entry.
    ///
    /// # Errors
    /// If it does not exist, or on an I/O error.
    pub fn stat_entry(&self, name: &str) -> io::Result<(FileStat, EntryType)> {
        let found = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let file_type = FileType::from_raw_mode(found.st_mode);
        Ok((file_stat(&found), entry_type(file_type)))
    }

    /// Returns the signature of an entry, or `None` if it does not exist. A symlink is not followed.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn stat(&self, name: &CStr) -> io::Result<Option<FileStat>> {
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(file_stat(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(target_os = "linux")]
fn each_raw_entry(
    opened: &FolderHandle,
    each: &mut dyn FnMut(&CStr, FileType, u64),
) -> io::Result<()> {
    // ext4 lists a large folder faster into a large buffer.
    let mut buffer = Vec::with_capacity(256 * 1024);
    let mut entries = rustix::fs::RawDir::new(opened, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        each(entry.file_name(), entry.file_type(), entry.ino());
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn each_raw_entry(
    opened: &FolderHandle,
    each: &mut dyn FnMut(&CStr, FileType, u64),
) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(opened)? {
        let entry = entry?;
        each(entry.file_name(), entry.file_type(), entry.ino());
    }
    Ok(())
}

fn entry_type(file_type: FileType) -> EntryType {
    match file_type {
        FileType::RegularFile => EntryType::File,
        FileType::Directory => EntryType::Folder,
        FileType::Symlink => EntryType::Symlink,
        _ => EntryType::Other,
    }
}

fn file_stat(found: &Stat) -> FileStat {
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    FileStat {
        size: convert_or_zero(found.st_size),
        modified_ns: nanoseconds(
            convert_or_zero(found.st_mtime),
            convert_or_zero(found.st_mtime_nsec),
        ),
        changed_ns: nanoseconds(
            convert_or_zero(found.st_ctime),
            convert_or_zero(found.st_ctime_nsec),
        ),
        inode: convert_or_zero(found.st_ino),
        is_folder: FileType::from_raw_mode(found.st_mode) == FileType::Directory,
    }
}

/// Converts a number of a system-dependent type; 0 if it is out of range.
fn convert_or_zero<N: TryInto<M>, M: Default>(number: N) -> M {
    number.try_into().unwrap_or_default()
}
