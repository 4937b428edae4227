//! Lists the entries of a folder by its path.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
pub(in crate::system) use std::path::PathBuf as FolderHandle;
use std::path::PathBuf;

use super::file_stat::{entry_inode, file_stat};
use crate::disk::FileStat;
use crate::system::{EntryType, OpenFolder};

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
