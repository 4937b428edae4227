//! Reading the files of a folder.

use memory_core::ContentHash;
use memory_core::topic::{TopicError, TopicName, TopicPath, TopicText};

use super::error::{damaged, refused};
use super::format::topic;
use crate::disk::{DirEntryKind, Disk, other_case};
use crate::markdown::as_text;

/// Returns the content of a file, or `None` if it does not exist.
pub(super) fn bytes(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>, TopicError> {
    let told = |error| refused(path, error);
    let Some((bytes, _)) = disk.read(path).map_err(told)? else {
        let is_folder = disk.signature(path).map_err(told)?.is_some_and(|found| found.is_folder);
        return if is_folder { Err(TopicError::IsFolder { name: path.to_owned() }) } else { Ok(None) };
    };
    Ok(other_case(disk, path).map_err(told)?.is_none().then_some(bytes))
}

/// Returns the text of a file, or `None` if it does not exist.
pub(super) fn text(disk: &dyn Disk, path: &TopicPath) -> Result<Option<TopicText>, TopicError> {
    let Some(bytes) = bytes(disk, path.as_str())? else { return Ok(None) };
    if let (_, Some(fault)) = as_text(&bytes) {
        return Err(damaged(path.as_str(), fault));
    }
    Ok(Some(decoded(path, &bytes)))
}

/// Returns the content of a file as text with its header; bytes that are not UTF-8 are replaced.
pub(super) fn decoded(path: &TopicPath, bytes: &[u8]) -> TopicText {
    let (size, text) = (bytes.len() as u64, String::from_utf8_lossy(bytes).into_owned());
    let topic = TopicName::of_file(path).map(|name| topic(name, &text, size, None));
    TopicText { path: path.clone(), text, topic }
}

/// Returns the hash of a file, as the log contains it.
pub(super) fn hash(bytes: &[u8]) -> String {
    ContentHash::from_bytes(bytes).to_string()
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
pub(super) fn below(disk: &dyn Disk, folder: &str) -> Result<TopicFolderContents, TopicError> {
    let mut found = TopicFolderContents { folders: vec![folder.to_owned()], ..TopicFolderContents::default() };
    let mut at = 0;
    while let Some(folder) = found.folders.get(at).cloned() {
        at += 1;
        for entry in disk.folder(&folder).map_err(|error| refused(&folder, error))? {
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                DirEntryKind::File => found.files.push(path),
                DirEntryKind::Folder => found.folders.push(path),
                DirEntryKind::Other => return Err(damaged(&path, "it is a symlink or not a regular file")),
            }
        }
    }
    found.files.sort();
    Ok(found)
}

/// Returns the folder of a path.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
