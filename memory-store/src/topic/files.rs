//! Reading the files of a folder.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};

use memory_core::topic::{TopicError, TopicName, TopicPath, TopicText};
use serde::de::DeserializeOwned;

use super::error::{damaged_error, outside_link_error, read_error};
use super::format::parse_topic;
use crate::disk::{DirEntryKind, Disk, MAX_FILE, find_case_variant};
use crate::markdown::lossy_text;
use crate::system::file_stat;

/// Returns the content of a file, or `None` if it does not exist.
pub(super) fn read_bytes(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>, TopicError> {
    let told = read_error(path);
    let Some(file) = TopicFile::open(disk, path).map_err(told)? else {
        let is_folder = disk
            .stat(path)
            .map_err(told)?
            .is_some_and(|found| found.is_folder);
        return if is_folder {
            Err(TopicError::IsFolder {
                name: path.to_owned(),
            })
        } else {
            Ok(None)
        };
    };
    if FolderNames::new(disk).has_other_name(&file) {
        return Err(outside_link_error(path));
    }
    let bytes = file.read_whole().map_err(told)?;
    Ok(find_case_variant(disk, path)
        .map_err(told)?
        .is_none()
        .then_some(bytes))
}

/// Returns the text of a file, or `None` if it does not exist.
pub(super) fn read_text(
    disk: &dyn Disk,
    path: &TopicPath,
) -> Result<Option<TopicText>, TopicError> {
    let Some(bytes) = read_bytes(disk, path.as_str())? else {
        return Ok(None);
    };
    if let (_, Some(fault)) = lossy_text(&bytes) {
        return Err(damaged_error(path.as_str(), fault));
    }
    Ok(Some(decode_text(path, &bytes)))
}

/// Returns the content of a file as text with its header; bytes that are not UTF-8 are replaced.
pub(super) fn decode_text(path: &TopicPath, bytes: &[u8]) -> TopicText {
    let (size, text) = (
        bytes.len() as u64,
        String::from_utf8_lossy(bytes).into_owned(),
    );
    let topic = TopicName::from_path(path).map(|name| parse_topic(name, &text, size, None));
    TopicText {
        path: path.clone(),
        text,
        topic,
    }
}

/// Returns the content of a derived JSON file; a missing or invalid one counts as empty.
pub(super) fn read_json<T: Default + DeserializeOwned>(disk: &dyn Disk, path: &str) -> T {
    let bytes = disk.read(path).ok().flatten().map(|(bytes, _)| bytes);
    bytes
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

/// An open file of the folder.
#[derive(Debug)]
pub(super) struct TopicFile {
    file: File,
    /// The size in bytes.
    pub(super) size: u64,
    inode: u64,
    /// The number of names of the file.
    names: u64,
}

impl TopicFile {
    /// Opens a file, or returns `None` if it does not exist or is a folder.
    pub(super) fn open(disk: &dyn Disk, path: &str) -> io::Result<Option<Self>> {
        let Some(file) = disk.open(path)? else {
            return Ok(None);
        };
        let found = file.metadata()?;
        let stat = file_stat(&found);
        Ok((!stat.is_folder).then(|| Self {
            size: stat.size,
            inode: stat.inode,
            names: name_count(&found),
            file,
        }))
    }

    /// Returns up to `length` bytes from the beginning.
    pub(super) fn read_start(&self, length: usize) -> io::Result<Vec<u8>> {
        let mut file = &self.file;
        file.rewind()?;
        let mut bytes = Vec::new();
        file.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_whole(&self) -> io::Result<Vec<u8>> {
        if MAX_FILE < self.size {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("{} bytes", self.size),
            ));
        }
        self.read_start(usize::try_from(MAX_FILE).unwrap_or(usize::MAX))
    }
}

/// The names of the files in a folder, also of hidden ones such as the trash.
///
/// A file with a further name outside may be a private file that another program put here. The folder is only searched for a file with
/// several names.
#[derive(Debug)]
pub(super) struct FolderNames<'d> {
    disk: &'d dyn Disk,
    by_inode: OnceCell<HashMap<u64, u64>>,
}

impl<'d> FolderNames<'d> {
    pub(super) fn new(disk: &'d dyn Disk) -> Self {
        Self {
            disk,
            by_inode: OnceCell::new(),
        }
    }

    /// Returns whether a file has a name outside of the folder.
    pub(super) fn has_other_name(&self, file: &TopicFile) -> bool {
        1 < file.names && {
            let by_inode = self.by_inode.get_or_init(|| {
                let mut counted = HashMap::new();
                count_names(self.disk, "", &mut counted);
                counted
            });
            by_inode.get(&file.inode).copied().unwrap_or_default() < file.names
        }
    }
}

/// Counts the names of the files below a folder. What cannot be read counts as outside.
fn count_names(disk: &dyn Disk, folder: &str, names: &mut HashMap<u64, u64>) {
    for entry in disk.list_folder(folder).unwrap_or_default() {
        let path = if folder.is_empty() {
            entry.name
        } else {
            format!("{folder}/{}", entry.name)
        };
        match entry.kind {
            DirEntryKind::Folder => count_names(disk, &path, names),
            DirEntryKind::File => {
                if let Ok(Some(found)) = disk.stat(&path) {
                    *names.entry(found.inode).or_default() += 1;
                }
            }
            DirEntryKind::Other => {}
        }
    }
}

/// Returns the number of names of a file.
#[cfg(unix)]
fn name_count(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

/// Returns 1: the standard library does not report the names of a file on this system.
#[cfg(not(unix))]
fn name_count(_: &Metadata) -> u64 {
    1
}

/// The files and folders below a folder.
#[derive(Debug, Default)]
pub(super) struct TopicFolderContents {
    /// The files.
    pub files: Vec<String>,
    /// The folders, each before its subfolders.
    pub folders: Vec<String>,
}

/// Returns the files and folders below a folder; an error if there is anything else.
pub(super) fn list_below(disk: &dyn Disk, folder: &str) -> Result<TopicFolderContents, TopicError> {
    let mut found = TopicFolderContents {
        folders: vec![folder.to_owned()],
        ..TopicFolderContents::default()
    };
    let mut at = 0;
    while let Some(folder) = found.folders.get(at).cloned() {
        at += 1;
        for entry in disk.list_folder(&folder).map_err(read_error(&folder))? {
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                DirEntryKind::File => found.files.push(path),
                DirEntryKind::Folder => found.folders.push(path),
                DirEntryKind::Other => {
                    return Err(damaged_error(
                        &path,
                        "it is a symlink or not a regular file",
                    ));
                }
            }
        }
    }
    found.files.sort();
    Ok(found)
}
