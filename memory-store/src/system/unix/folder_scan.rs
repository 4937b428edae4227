//! Lists the entries of a folder by its file descriptor.

use std::ffi::CStr;
pub(in crate::system) use std::fs::File as FolderHandle;
use std::io;

use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};
use rustix::io::Errno;

use crate::disk::FileStat;
use crate::system::{EntryType, OpenFolder};

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
