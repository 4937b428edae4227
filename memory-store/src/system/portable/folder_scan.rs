//! Lists the entries of a folder by its path.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
pub(in crate::system) use std::path::PathBuf as FolderHandle;
use std::path::{Path, PathBuf};

use super::file_open::symlink_error;
use super::file_stat::{entry_inode, file_stat};
use crate::disk::FileStat;
use crate::system::{EntryType, OpenFolder};

impl OpenFolder {
    /// Opens the folder at `path` below `root` without following symlinks below `root`. The components are separated by `/`.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it does not exist; [`io::ErrorKind::NotADirectory`], or an error for which
    /// [`is_symlink_error`](crate::system::is_symlink_error) is true, if a component is not a folder; or on an I/O error.
    pub fn open(root: &Path, path: &str) -> io::Result<Self> {
        let mut handle = root.to_owned();
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
            let entry_type = match entry_type {
                found if found.is_symlink() => EntryType::Symlink,
                found if found.is_dir() => EntryType::Folder,
                found if found.is_file() => EntryType::File,
                _ => EntryType::Other,
            };
            each(&name, entry_type, inode);
        }
        Ok(())
    }

    /// Returns whether an entry is a folder or a symlink to one.
    pub fn leads_to_folder(&self, name: &CStr) -> bool {
        self.entry_path(name).is_some_and(|path| path.is_dir())
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
