//! Opens and changes the entries of a folder by its file descriptor.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fchmod, linkat, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::sync::sync_opened_folder;
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
