//! Appending to a session, and repair after an interrupted append.

use memory_core::instance::InstanceError;
use memory_core::instance::history::SessionRecord;

use super::file::{SessionFile, file_error, parse_record};
use super::operations;
use super::queue::TakeBatch;
use crate::disk::{BackwardLines, Disk};
use memory_core::Operation;

/// Returns the records as lines.
pub(super) fn encode_lines(records: &[SessionRecord]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(
        records
            .iter()
            .map(|record| record.text().as_str().len() + 1)
            .sum(),
    );
    for record in records {
        bytes.extend_from_slice(record.text().as_str().as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// Appends the lines that `take` returns to a file. The caller holds the lock.
///
/// Returns the path in the trash of the incomplete record that an interrupted append left, if there was one.
pub(super) fn append(
    disk: &dyn Disk,
    path: &str,
    take: TakeBatch<'_>,
    operation: &Operation,
) -> Result<Option<String>, InstanceError> {
    let mut newline = false;
    let (end, set_aside) = match find_end(disk, path)? {
        SessionFileEnd::Whole(end) => (end, None),
        SessionFileEnd::WithoutNewline(end) => {
            newline = true;
            (end, None)
        }
        SessionFileEnd::Torn { at, rest } => {
            let folder = operations::log(disk).trash_folder(operation);
            let place = format!("{folder}/{path}.torn");
            let told = file_error(&place);
            disk.write(&place, &rest)
                .and_then(|()| disk.sync_file(&place))
                .map_err(told)?;
            disk.sync_folder(&folder).map_err(told)?;
            disk.truncate(path, at).map_err(file_error(path))?;
            (at, Some(place))
        }
    };
    let mut bytes = take();
    if newline {
        bytes.insert(0, b'\n');
    }
    if let Err(error) = disk.append(path, &bytes) {
        // A partial record is removed. If that fails, the next append moves it to the trash.
        if disk
            .stat(path)
            .is_ok_and(|found| found.is_some_and(|found| end < found.size))
        {
            let _ = disk.truncate(path, end);
        }
        return Err(file_error(path)(error));
    }
    Ok(set_aside)
}

/// The end of a file.
#[derive(Debug)]
enum SessionFileEnd {
    /// A complete line, at this length in bytes.
    Whole(u64),
    /// A complete record or blank line without a newline, at this length in bytes.
    ///
    /// Some editors remove the last newline.
    WithoutNewline(u64),
    /// An invalid record from offset `at` on.
    Torn { at: u64, rest: Vec<u8> },
}

fn find_end(disk: &dyn Disk, path: &str) -> Result<SessionFileEnd, InstanceError> {
    let Some(SessionFile { file, end }) = SessionFile::open(disk, path, || ())? else {
        return Ok(SessionFileEnd::Whole(0));
    };
    if super::file::ends_with_newline(&file, end).map_err(file_error(path))? {
        return Ok(SessionFileEnd::Whole(end));
    }
    let last = BackwardLines::new(file, end)
        .next()
        .transpose()
        .map_err(file_error(path))?;
    Ok(match last {
        Some(line) if parse_record(path, &line).is_some_and(|record| record.is_err()) => {
            SessionFileEnd::Torn {
                at: line.at,
                rest: line.bytes,
            }
        }
        _ => SessionFileEnd::WithoutNewline(end),
    })
}
