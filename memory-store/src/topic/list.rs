//! Listing the topics and files of a folder.

use std::io;

use memory_core::topic::{
    INDEX_FILE, PathEntry, Topic, TopicError, TopicListing, TopicName, TopicPath,
};

use super::error::{OUTSIDE_LINK, read_error};
use super::files::{FolderNames, TopicFile};
use super::format::parse_topic;
use crate::disk::{DirEntry, DirEntryKind, Disk};
use crate::markdown::{has_whole_front_matter, lossy_text};

/// Number of bytes that contain the header of nearly every file.
const HEADER_BYTES: usize = 16 * 1024;

/// Maximum number of bytes that are read for the header of a file.
const MAX_HEADER_BYTES: usize = 1024 * 1024;

/// Returns the topics by name.
pub(super) fn list_topics(disk: &dyn Disk) -> Result<TopicListing, TopicError> {
    let mut listing = TopicListing::default();
    let names = FolderNames::new(disk);
    let entries = disk.list_folder("").map_err(read_error("the folder"))?;
    let is_markdown = |entry: &DirEntry| {
        entry.name.to_lowercase().ends_with(".md") && !entry.name.starts_with('.')
    };
    for DirEntry { name, kind, .. } in entries.into_iter().filter(is_markdown) {
        if name.eq_ignore_ascii_case(INDEX_FILE) || kind == DirEntryKind::Folder {
            continue;
        }
        match name.parse::<TopicName>() {
            _ if kind == DirEntryKind::Other => {
                let why = if name.contains(char::REPLACEMENT_CHARACTER) {
                    "its name is not UTF-8"
                } else {
                    "it is a symlink or not a regular file"
                };
                listing.misnamed.push((name, why.into()));
            }
            Ok(parsed) => match read_topic(disk, &names, &parsed) {
                Ok(topic) => listing.topics.extend(topic),
                Err(OutsideLink) => listing.misnamed.push((name, format!("it {OUTSIDE_LINK}"))),
            },
            Err(error) => listing.misnamed.push((name, error.to_string())),
        }
    }
    listing
        .topics
        .sort_by(|one, other| one.name.cmp(&other.name));
    listing.misnamed.sort();
    Ok(listing)
}

/// The file has a name outside of the folder.
struct OutsideLink;

/// Returns the topic of a file, or `None` if it was deleted since the folder was listed.
fn read_topic(
    disk: &dyn Disk,
    names: &FolderNames<'_>,
    name: &TopicName,
) -> Result<Option<Topic>, OutsideLink> {
    let path = name.as_str();
    let unreadable = |size, error: io::Error| {
        let topic = parse_topic(name.clone(), "", size, Some(error.to_string()));
        Ok(Some(Topic {
            is_unreadable: true,
            ..topic
        }))
    };
    let file = match TopicFile::open(disk, path) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(None),
        Err(error) => {
            let size = disk.stat(path).ok().flatten().map_or(0, |found| found.size);
            return unreadable(size, error);
        }
    };
    if names.has_other_name(&file) {
        return Err(OutsideLink);
    }
    let size = file.size;
    let read = file.read_start(HEADER_BYTES).and_then(|bytes| {
        let needs_more =
            bytes.len() == HEADER_BYTES && !has_whole_front_matter(&lossy_text(&bytes).0);
        if needs_more {
            file.read_start(MAX_HEADER_BYTES)
        } else {
            Ok(bytes)
        }
    });
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(size, error),
    };
    // A character cut off at the end of the part that was read is not an error of the file.
    let is_cut = (bytes.len() as u64) < size;
    let whole = match std::str::from_utf8(&bytes) {
        Err(error) if is_cut && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => &bytes,
    };
    let (text, fault) = lossy_text(whole);
    Ok(Some(parse_topic(name.clone(), &text, size, fault)))
}

/// Returns all files and folders below `folder` that are not hidden; `None` if it does not exist.
pub(super) fn list_entries(
    disk: &dyn Disk,
    folder: Option<&TopicPath>,
) -> Result<Option<Vec<PathEntry>>, TopicError> {
    if let Some(folder) = folder {
        let found = disk
            .stat(folder.as_str())
            .map_err(read_error(folder.as_str()))?;
        if !found.is_some_and(|found| found.is_folder) {
            return Ok(None);
        }
    }
    let mut found = Vec::new();
    collect_entries(disk, folder, &mut found)?;
    Ok(Some(found))
}

/// Adds everything below a folder to `found`, and returns its size in bytes.
fn collect_entries(
    disk: &dyn Disk,
    folder: Option<&TopicPath>,
    found: &mut Vec<PathEntry>,
) -> Result<u64, TopicError> {
    let place = folder.map_or("", TopicPath::as_str);
    let mut entries = disk.list_folder(place).map_err(read_error(place))?;
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    let mut bytes = 0;
    for DirEntry { name, kind, .. } in entries {
        let path = if place.is_empty() {
            name
        } else {
            format!("{place}/{name}")
        };
        // Hidden files and invalid names are skipped.
        let Ok(path) = path.parse::<TopicPath>() else {
            continue;
        };
        match kind {
            DirEntryKind::Other => {}
            DirEntryKind::File => {
                let size = disk
                    .stat(path.as_str())
                    .map_err(read_error(path.as_str()))?;
                let size = size.map_or(0, |found| found.size);
                bytes += size;
                found.push(PathEntry {
                    path,
                    size,
                    is_folder: false,
                });
            }
            DirEntryKind::Folder => {
                let at = found.len();
                found.push(PathEntry {
                    path: path.clone(),
                    size: 0,
                    is_folder: true,
                });
                found[at].size = collect_entries(disk, Some(&path), found)?;
                bytes += found[at].size;
            }
        }
    }
    Ok(bytes)
}
