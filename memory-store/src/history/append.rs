//! Appending to a session, and repair after an interrupted append.

use memory_core::instance::history::Record;
use memory_core::instance::{InstanceError, InstanceOperation};

use super::file::{SessionFile, record, refused};
use super::lines::Backward;
use super::operations;
use super::queue::Take;
use crate::disk::Disk;

/// Returns the records as lines.
pub(super) fn lines(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(records.iter().map(|record| record.text().as_str().len() + 1).sum());
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
    take: Take<'_>,
    operation: &InstanceOperation,
) -> Result<Option<String>, InstanceError> {
    let mut newline = false;
    let (end, set_aside) = match end_of(disk, path)? {
        End::Whole(end) => (end, None),
        End::WithoutNewline(end) => {
            newline = true;
            (end, None)
        }
        End::Torn { at, rest } => {
            let folder = operations::folder(operation);
            let place = format!("{folder}/{path}.torn");
            let told = |error| refused(&place, error);
            disk.write(&place, &rest).and_then(|()| disk.sync_file(&place)).map_err(told)?;
            disk.sync_folder(&folder).map_err(told)?;
            disk.shorten(path, at).map_err(|error| refused(path, error))?;
            (at, Some(place))
        }
    };
    let mut bytes = take();
    if newline {
        bytes.insert(0, b'\n');
    }
    if let Err(error) = disk.append(path, &bytes) {
        // A partial record is removed. If that fails, the next append moves it to the trash.
        if disk.signature(path).is_ok_and(|found| found.is_some_and(|found| end < found.size)) {
            let _ = disk.shorten(path, end);
        }
        return Err(refused(path, error));
    }
    Ok(set_aside)
}

/// The end of a file.
#[derive(Debug)]
enum End {
    /// A complete line, at this length in bytes.
    Whole(u64),
    /// A complete record or blank line without a newline, at this length in bytes.
    ///
    /// Some editors remove the last newline.
    WithoutNewline(u64),
    /// An invalid record from offset `at` on.
    Torn { at: u64, rest: Vec<u8> },
}

fn end_of(disk: &dyn Disk, path: &str) -> Result<End, InstanceError> {
    let Some(SessionFile { file, end }) = SessionFile::open(disk, path, || ())? else { return Ok(End::Whole(0)) };
    if super::file::ends_a_line(&file, end).map_err(|error| refused(path, error))? {
        return Ok(End::Whole(end));
    }
    let last = Backward::new(file, end).next().transpose().map_err(|error| refused(path, error))?;
    Ok(match last {
        Some(line) if record(path, &line).is_some_and(|record| record.is_err()) => End::Torn { at: line.at, rest: line.bytes },
        _ => End::WithoutNewline(end),
    })
}
