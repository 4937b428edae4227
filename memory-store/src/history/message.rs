//! The messages of a session as documents of an index.

use std::io;

use memory_core::instance::history::SessionRecord;
use memory_core::{
    ContentHash, Draft, FileVersion, MemoryId, Scope, SpeakerRole, StoreError, StoredMemory,
};

use super::file::{parse_file_name, parse_record};
use crate::disk::{Disk, FileStat, ForwardLines, RawLine};
use crate::error::io_error;
use crate::memory_file::{MemoryFile, time_from_nanos};

/// Maximum size of the searchable part of a message, in bytes.
const MAX_SEARCHED: usize = 64 * 1024;

/// The roles of records that nobody searches for: calls of tools and instructions of programs.
const EXCLUDED_ROLES: [&str; 3] = ["tool", "system", "developer"];

/// Returns whether a file of this name is a session.
pub(crate) fn is_session_file(name: &str) -> bool {
    parse_file_name(name).is_some()
}

/// Returns the file and the offset of the message at the path of a document, or `None` if it is another path.
fn parse_path(path: &str) -> Option<(&str, u64)> {
    let (file, at) = path.split_once('/')?;
    let is_number = !at.is_empty() && at.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && is_session_file(file)).then(|| Some((file, at.parse().ok()?)))?
}

/// Returns the messages of a session that have a text, in order. Lines that are no records are skipped.
pub(crate) fn read_messages(
    disk: &dyn Disk,
    file: &str,
) -> io::Result<impl Iterator<Item = io::Result<MemoryFile>>> {
    let lines = lines_from(disk, file, 0)?;
    let name = file.to_owned();
    Ok(lines
        .into_iter()
        .flatten()
        .filter_map(move |line| line.map(|line| message(&name, &line)).transpose()))
}

/// Reads the message at the path of a document. The outer `None` means that it is another path, the inner one that there is no message.
pub(crate) fn load_message(
    disk: &dyn Disk,
    path: &str,
) -> Option<Result<Option<MemoryFile>, StoreError>> {
    let (file, at) = parse_path(path)?;
    let read = || -> io::Result<Option<MemoryFile>> {
        let line = lines_from(disk, file, at)?.and_then(|mut lines| lines.next());
        Ok(line.transpose()?.and_then(|line| message(file, &line)))
    };
    Some(read().map_err(|error| io_error(format!("read {file}"), error)))
}

fn lines_from(disk: &dyn Disk, file: &str, at: u64) -> io::Result<Option<ForwardLines>> {
    let Some(opened) = disk.open(file)? else {
        return Ok(None);
    };
    let end = opened.metadata()?.len();
    Ok((at <= end).then(|| ForwardLines::from_offset(opened, at, end)))
}

/// Returns the message in a line of the file of a session, if it has a text that may be searched.
fn message(file: &str, line: &RawLine) -> Option<MemoryFile> {
    let record = parse_record(file, line)?.ok()?;
    let text = record.content_text();
    let role = record.role().as_str();
    if text.trim().is_empty() || EXCLUDED_ROLES.contains(&role) {
        return None;
    }
    let path = format!("{file}/{:012}", line.at);
    let draft = Draft {
        source: role.to_owned(),
        role: SpeakerRole::from_source(role),
        scope: Scope::Conversation(parse_file_name(file)?.as_str().to_owned()),
        ..Draft::new(&text[..text.floor_char_boundary(MAX_SEARCHED)])
    };
    Some(MemoryFile {
        stored: StoredMemory {
            memory: draft.into_memory(MemoryId::for_path(&path), time(&record)),
            path,
            stamp: FileVersion(ContentHash::from_bytes(&line.bytes)),
            problem: None,
            other_fields: Vec::new(),
        },
        bytes: line.bytes.clone(),
        signature: FileStat {
            size: line.bytes.len() as u64,
            modified_ns: 0,
            changed_ns: 0,
            inode: 0,
            is_folder: false,
        },
    })
}

/// Returns the time of a record; one without a time has that of 1970, which no output shows.
fn time(record: &SessionRecord) -> chrono::DateTime<chrono::Utc> {
    record.at().unwrap_or_else(|| time_from_nanos(0))
}
