//! The files of a folder, as they lie there.

use memory_core::ContentHash;
use memory_core::topic::{TopicError, TopicName, TopicPath, TopicText};

use super::error::{damaged, refused};
use super::format::topic;
use crate::disk::{Disk, EntryKind, other_case};
use crate::markdown::as_text;

/// Returns the bytes of a file, or `None` if there is none.
pub(super) fn bytes(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>, TopicError> {
    let told = |error| refused(path, error);
    let Some((bytes, _)) = disk.read(path).map_err(told)? else {
        let is_folder = disk.signature(path).map_err(told)?.is_some_and(|found| found.is_folder);
        return if is_folder { Err(TopicError::IsFolder { name: path.to_owned() }) } else { Ok(None) };
    };
    Ok(other_case(disk, path).map_err(told)?.is_none().then_some(bytes))
}

/// Returns the whole text of a file, or `None` if there is none.
pub(super) fn text(disk: &dyn Disk, path: &TopicPath) -> Result<Option<TopicText>, TopicError> {
    let Some(bytes) = bytes(disk, path.as_str())? else { return Ok(None) };
    if let (_, Some(fault)) = as_text(&bytes) {
        return Err(damaged(path.as_str(), fault));
    }
    Ok(Some(decoded(path, &bytes)))
}

/// Returns bytes as the text of a file, and what it says of itself; bytes that are no UTF-8 text are replaced.
pub(super) fn decoded(path: &TopicPath, bytes: &[u8]) -> TopicText {
    let (size, text) = (bytes.len() as u64, String::from_utf8_lossy(bytes).into_owned());
    let topic = TopicName::of_file(path).map(|name| topic(name, &text, size, None));
    TopicText { path: path.clone(), text, topic }
}

/// Returns the hash by which the bytes of a file are known.
pub(super) fn hash(bytes: &[u8]) -> String {
    ContentHash::of_bytes(bytes).to_string()
}

/// What is below a folder.
#[derive(Debug, Default)]
pub(super) struct Below {
    /// The files.
    pub files: Vec<String>,
    /// The folders, each before those in it.
    pub folders: Vec<String>,
}

/// Returns all that is below a folder, which holds nothing but files and folders.
pub(super) fn below(disk: &dyn Disk, folder: &str) -> Result<Below, TopicError> {
    let mut found = Below { folders: vec![folder.to_owned()], ..Below::default() };
    let mut at = 0;
    while let Some(folder) = found.folders.get(at).cloned() {
        at += 1;
        for entry in disk.folder(&folder).map_err(|error| refused(&folder, error))? {
            let path = format!("{folder}/{}", entry.name);
            match entry.kind {
                EntryKind::File => found.files.push(path),
                EntryKind::Folder => found.folders.push(path),
                EntryKind::Other => return Err(damaged(&path, "it is a symlink, or no file")),
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
