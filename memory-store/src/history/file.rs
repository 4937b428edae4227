//! The file of a session.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memory_core::instance::InstanceError;
use memory_core::instance::history::SessionRecord;
use memory_core::{Code, StoreError};

use crate::disk::{Disk, RawLine};
use crate::error::io_error;

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
    pub(super) fn open(disk: &dyn Disk, path: &str, wait: impl FnOnce()) -> Result<Option<Self>, InstanceError> {
        let told = |error| file_error(path, error);
        let Some(file) = disk.open(path).map_err(told)? else { return Ok(None) };
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
    let Some(last) = end.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// Parses a line as a record, or returns `None` if it is blank.
pub(super) fn parse_record(path: &str, line: &RawLine) -> Option<Result<SessionRecord, InstanceError>> {
    let text = str::from_utf8(&line.bytes).map_err(|_| "it is not UTF-8".to_owned());
    if text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
        return None;
    }
    let record = text.and_then(SessionRecord::parse).map_err(|why| {
        let what = if line.is_whole {
            format!("the line at byte {} is not a record: {why}", line.at)
        } else {
            format!("the last record, at byte {}, is incomplete; the next append moves it to the trash", line.at)
        };
        InstanceError::Damaged { place: path.to_owned(), what }
    });
    Some(record)
}

/// Returns the error for a file that could not be read or written.
pub(crate) fn file_error(path: &str, error: io::Error) -> InstanceError {
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    match error.kind() {
        _ if is_link => InstanceError::PathRefused { path: path.to_owned(), why: "is a symlink".into() },
        io::ErrorKind::InvalidInput => InstanceError::PathRefused { path: path.to_owned(), why: error.to_string() },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            let (action, source) = (format!("read or write {path}"), Box::new(error));
            StoreError::Backend { action, code: Code::PermissionDenied, source }.into()
        }
        _ => io_error(format!("read or write {path}"), error).into(),
    }
}

/// Returns the error for a folder that could not be opened.
pub(crate) fn folder_error(root: &Path) -> impl FnOnce(io::Error) -> InstanceError {
    let place = root.display().to_string();
    move |error| file_error(&place, error)
}
