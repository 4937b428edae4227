//! The file of a session, and its name.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::path::Path;

use memory_core::instance::InstanceError;
use memory_core::instance::history::{SessionName, SessionRecord};
use memory_core::{Code, StoreError};

use crate::disk::{Disk, LazyDisk, RawLine};
use crate::error::io_error;
use crate::oplog::OperationError;
use crate::system::{is_symlink_error, read_exact_at};

/// The open file of a session and the number of bytes to read.
#[derive(Debug)]
pub(super) struct SessionFile {
    pub file: File,
    pub end: u64,
}

impl SessionFile {
    /// Opens the file, or returns `None` if it does not exist.
    ///
    /// If the file does not end with a newline, another process may be writing; `wait` is called to wait for it, and
    /// then the length is read again.
    pub(super) fn open(
        disk: &dyn Disk,
        path: &str,
        wait: impl FnOnce(),
    ) -> Result<Option<Self>, InstanceError> {
        let told = file_error(path);
        let Some(file) = disk.open(path).map_err(told)? else {
            return Ok(None);
        };
        let mut end = file.metadata().map_err(told)?.len();
        if !ends_with_newline(&file, end).map_err(told)? {
            wait();
            end = file.metadata().map_err(told)?.len();
        }
        Ok(Some(Self { file, end }))
    }
}

/// Returns whether the first `end` bytes of a file are complete lines.
pub(super) fn ends_with_newline(file: &File, end: u64) -> io::Result<bool> {
    let Some(last) = end.checked_sub(1) else {
        return Ok(true);
    };
    let mut byte = [0];
    read_exact_at(file, &mut byte, last)?;
    Ok(byte == *b"\n")
}

/// Parses a line as a record, or returns `None` if it is blank.
pub(super) fn parse_record(
    path: &str,
    line: &RawLine,
) -> Option<Result<SessionRecord, InstanceError>> {
    let text = str::from_utf8(&line.bytes).map_err(|_| "it is not UTF-8".to_owned());
    if text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
        return None;
    }
    let record = text.and_then(SessionRecord::parse).map_err(|why| {
        let what = if line.is_whole {
            format!("the line at byte {} is not a record: {why}", line.at)
        } else {
            format!(
                "the last record, at byte {}, is incomplete; the next append moves it to the trash",
                line.at
            )
        };
        InstanceError::Damaged {
            place: path.to_owned(),
            what,
        }
    });
    Some(record)
}

/// Returns the error for a file that could not be read or written.
pub(crate) fn file_error(path: &str) -> impl Fn(io::Error) -> InstanceError + Copy {
    move |error| match error.kind() {
        _ if is_symlink_error(&error) => InstanceError::PathRefused {
            path: path.to_owned(),
            why: "is a symlink".into(),
        },
        io::ErrorKind::InvalidInput => InstanceError::PathRefused {
            path: path.to_owned(),
            why: error.to_string(),
        },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            let (action, source) = (format!("read or write {path}"), Box::new(error));
            StoreError::Backend {
                action,
                code: Code::PermissionDenied,
                source,
            }
            .into()
        }
        _ => io_error(format!("read or write {path}"), error).into(),
    }
}

impl From<OperationError> for InstanceError {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::ReadLog(path, source) | OperationError::WriteLog(path, source) => {
                file_error(path)(source)
            }
            OperationError::Read(path, source) | OperationError::Write(path, source) => {
                file_error(&path)(source)
            }
            error @ OperationError::Changed(_) => StoreError::from(error).into(),
        }
    }
}

/// Returns the error for a folder that could not be opened.
pub(crate) fn folder_error(root: &Path) -> impl FnOnce(io::Error) -> InstanceError {
    let place = root.display().to_string();
    move |error| file_error(&place)(error)
}

/// Returns the disk of a folder, or `None` if the folder does not exist.
pub(crate) fn existing(place: &LazyDisk) -> Result<Option<&dyn Disk>, InstanceError> {
    place.get().map_err(folder_error(place.root()))
}

/// Returns the disk of a folder, and creates the folder if it is missing.
pub(crate) fn created(place: &LazyDisk) -> Result<&dyn Disk, InstanceError> {
    place.get_or_create().map_err(folder_error(place.root()))
}

/// The extension of the files.
const EXTENSION: &str = ".jsonl";

/// Maximum length of a file name in bytes on common file systems.
const MAX_FILE_NAME: usize = 255;

/// Returns the name of the file.
///
/// Characters that some file systems reject are percent-encoded, as in `%2F`, and so is a leading dot.
///
/// # Errors
/// [`InstanceError::TooLarge`] if the name is too long for a file.
pub(super) fn file_name(session: &SessionName) -> Result<String, InstanceError> {
    let mut name = String::with_capacity(session.as_str().len() + EXTENSION.len());
    for (at, character) in session.as_str().char_indices() {
        let is_refused = matches!(
            character,
            '/' | '\\' | '%' | ':' | '*' | '?' | '"' | '<' | '>' | '|'
        );
        if is_refused || (at == 0 && character == '.') {
            // Writing to a string does not fail.
            let _ = write!(name, "%{:02X}", u32::from(character));
        } else {
            name.push(character);
        }
    }
    name.push_str(EXTENSION);
    if MAX_FILE_NAME < name.len() {
        let what = format!(
            "the session needs a file name of {} bytes; the limit is {MAX_FILE_NAME}",
            name.len()
        );
        return Err(InstanceError::TooLarge { what });
    }
    Ok(name)
}

/// Returns the session of a file name, or `None` if the file is not that of a session.
pub(super) fn parse_file_name(file_name: &str) -> Option<SessionName> {
    let mut rest = file_name.strip_suffix(EXTENSION)?;
    let mut name = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once('%') {
        let digits = after.get(..2)?;
        name.push_str(before);
        name.push(char::from(u8::from_str_radix(digits, 16).ok()?));
        rest = &after[2..];
    }
    name.push_str(rest);
    let session = name.parse().ok()?;
    // A name that [`file_name`] would encode differently belongs to another program.
    self::file_name(&session)
        .ok()
        .filter(|own| own == file_name)
        .map(|_| session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_has_a_file_of_its_own_that_tells_its_name() {
        for (session, file) in [
            ("s1", "s1.jsonl"),
            ("chat-2026-05-17", "chat-2026-05-17.jsonl"),
            ("深色 mode", "深色 mode.jsonl"),
            ("../etc/passwd", "%2E.%2Fetc%2Fpasswd.jsonl"),
            (".lock", "%2Elock.jsonl"),
            ("a%2Fb", "a%252Fb.jsonl"),
            ("discord:1", "discord%3A1.jsonl"),
        ] {
            let session: SessionName = session.parse().unwrap();
            assert_eq!(file_name(&session).unwrap(), file);
            assert_eq!(parse_file_name(file), Some(session));
        }
        for other in [
            "s1",
            ".jsonl",
            "a%2fb.jsonl",
            "a%4.jsonl",
            "%61.jsonl",
            ".a.jsonl",
            "a:b.jsonl",
            "a%é.jsonl",
        ] {
            assert_eq!(parse_file_name(other), None, "{other}");
        }
        let long: SessionName = "深".repeat(100).parse().unwrap();
        assert_eq!(
            file_name(&long).unwrap_err().code(),
            memory_core::Code::LimitExceeded
        );
    }
}
