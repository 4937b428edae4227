//! Reading the files of a folder.

use memory_core::topic::{TopicError, TopicName, TopicPath, TopicText};

use super::error::{damaged_error, read_error};
use super::format::parse_topic;
use crate::disk::{DirEntryKind, Disk, find_case_variant};
use crate::markdown::lossy_text;

/// Returns the content of a file, or `None` if it does not exist.
pub(super) fn read_bytes(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>, TopicError> {
    let told = |error| read_error(path, error);
    let Some((bytes, _)) = disk.read(path).map_err(told)? else {
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
        for entry in disk
            .list_folder(&folder)
            .map_err(|error| read_error(&folder, error))?
        {
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
