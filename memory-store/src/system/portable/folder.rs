//! Opens, lists and changes the entries of a folder by its path.

use std::ffi::{CStr, CString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::path::PathBuf;
pub(in crate::system) use std::path::PathBuf as FolderHandle;

use super::file::{
    entry_inode, file_stat, open_no_follow_nonblocking, symlink_error, sync_file, sync_folder,
};
use crate::disk::FileStat;
use crate::system::{EntryType, FileAccess, OpenFolder};

impl OpenFolder {
    /// Opens the folder at `path`. Symlinks are followed.
    ///
    /// # Errors
    /// If it does not exist or is not a folder; or on an I/O error.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        if path.metadata()?.is_dir() {
            let handle = path.to_owned();
            Ok(Self { handle })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens the folder at `path` below this one without following symlinks. The components are separated by `/`.
    ///
    /// A symlink that another process creates after the check is followed.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it does not exist; [`io::ErrorKind::NotADirectory`], or an error for which
    /// [`is_symlink_error`](crate::system::is_symlink_error) is true, if a component is not a folder; or on an I/O error.
    pub fn open_below(&self, path: &str) -> io::Result<Self> {
        let mut handle = self.handle.clone();
        for part in path.split('/') {
            handle.push(part);
            let found = fs::symlink_metadata(&handle)?;
            if found.is_symlink() {
                return Err(symlink_error());
            }
            if !found.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
        }
        Ok(Self { handle })
    }

    /// Returns the metadata of the folder.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn metadata(&self) -> io::Result<Metadata> {
        fs::metadata(&self.handle)
    }

    /// Opens a file, unless it is a symlink.
    ///
    /// # Errors
    /// An error for which [`is_symlink_error`](crate::system::is_symlink_error) is true if it is a symlink;
    /// [`io::ErrorKind::Unsupported`] for a pipe, a socket or a device; or on an I/O error.
    pub fn open_file(&self, name: &str, access: FileAccess) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match access {
            FileAccess::Read => options.read(true),
            FileAccess::Write => options.write(true),
            FileAccess::Replace => options.write(true).create(true).truncate(true),
            FileAccess::Append => options.append(true).create(true),
            FileAccess::Lock => options.read(true).write(true).create(true),
        };
        open_no_follow_nonblocking(&mut options, &self.handle.join(name))
    }

    /// Creates a folder, which has the access rules of its parent.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn create_folder(&self, name: &str) -> io::Result<()> {
        fs::create_dir(self.handle.join(name))
    }

    /// Renames an entry, and replaces a file at the new place.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn rename(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        fs::rename(self.handle.join(name), to.handle.join(new_name))
    }

    /// Gives a file a second name.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn hard_link(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        fs::hard_link(self.handle.join(name), to.handle.join(new_name))
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.handle.join(name))
    }

    /// Deletes an empty folder.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.handle.join(name))
    }

    /// Gives a file the permissions of another, such as the attribute for read-only files. The owner does not change.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if one of them is not a regular file; or on an I/O error.
    pub fn copy_permissions(&self, name: &str, of: &Self, other: &str) -> io::Result<()> {
        let (file, other) = (self.handle.join(name), of.handle.join(other));
        let (own, other) = (fs::symlink_metadata(&file)?, fs::symlink_metadata(other)?);
        if !own.is_file() || !other.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        fs::set_permissions(file, other.permissions())
    }

    /// Syncs the content of a file, unless it is a symlink.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn sync_file(&self, name: &str) -> io::Result<()> {
        sync_file(&self.handle.join(name))
    }

    /// Syncs the entries of the folder on systems other than Windows.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn sync(&self) -> io::Result<()> {
        sync_folder(&self.handle)
    }
}

impl OpenFolder {
    /// Returns the modification time of the folder in nanoseconds since 1970.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn modified_ns(&self) -> io::Result<i64> {
        Ok(file_stat(&fs::symlink_metadata(&self.handle)?).modified_ns)
    }

    /// Calls `each` with the name, type and inode of every entry, unordered. The entries `.` and `..` may be among them.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn each_entry(&self, each: &mut dyn FnMut(&CStr, EntryType, u64)) -> io::Result<()> {
        for entry in fs::read_dir(&self.handle)? {
            let entry = entry?;
            let entry_type = entry.file_type()?;
            // An entry that was deleted after the listing is not an entry.
            let Ok(inode) = entry_inode(&entry) else {
                continue;
            };
            let name = CString::new(entry.file_name().into_encoded_bytes())?;
            each(&name, type_of(entry_type), inode);
        }
        Ok(())
    }

    /// Returns whether an entry is a folder or a symlink to one.
    pub fn leads_to_folder(&self, name: &CStr) -> bool {
        self.entry_path(name).is_some_and(|path| path.is_dir())
    }

    /// Returns the signature and the type of an entry.
    ///
    /// # Errors
    /// If it does not exist, or on an I/O error.
    pub fn stat_entry(&self, name: &str) -> io::Result<(FileStat, EntryType)> {
        let found = fs::symlink_metadata(self.handle.join(name))?;
        Ok((file_stat(&found), type_of(found.file_type())))
    }

    /// Returns the signature of an entry, or `None` if it does not exist. A symlink is not followed.
    ///
    /// # Errors
    /// On an I/O error.
    pub fn stat(&self, name: &CStr) -> io::Result<Option<FileStat>> {
        let Some(path) = self.entry_path(name) else {
            return Ok(None);
        };
        match fs::symlink_metadata(path) {
            Ok(found) => Ok(Some(file_stat(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the path of an entry, or `None` if its name is not UTF-8.
    fn entry_path(&self, name: &CStr) -> Option<PathBuf> {
        name.to_str().ok().map(|name| self.handle.join(name))
    }
}

fn type_of(found: fs::FileType) -> EntryType {
    match found {
        found if found.is_symlink() => EntryType::Symlink,
        found if found.is_dir() => EntryType::Folder,
        found if found.is_file() => EntryType::File,
        _ => EntryType::Other,
    }
}
