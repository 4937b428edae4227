//! The payload of the operation log of sessions: removed or restored records.

use std::io;

use memory_core::instance::{InstanceError, InstanceRecord, InstanceSubject};
use memory_core::{Operation, OperationId, Recorded, mark_undone_lazily};
use serde::{Deserialize, Serialize};

use super::file::file_error;
use crate::disk::Disk;
use crate::oplog::{LogPayload, OperationLog, find_undoable};

/// The folder of the log and of the previous files.
pub(super) const FOLDER: &str = ".trash";

/// The changes of one session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SessionPayload {
    pub session: String,
    /// Number of records removed or restored.
    pub count: usize,
    /// The path of the previous file, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<String>,
    /// The lines of the session after the operation, if it then existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<RemainingLines>,
}

/// The complete lines of a session after an operation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RemainingLines {
    /// Their length in bytes.
    pub bytes: u64,
    /// Their SHA-256.
    pub hash: String,
}

/// Returns the log of a folder of sessions.
pub(super) fn log(disk: &dyn Disk) -> OperationLog<'_, SessionPayload> {
    OperationLog::new(disk, FOLDER)
}

/// Returns the path of a new file before it replaces the file of the session.
///
/// If this path still exists, the operation was not carried out.
pub(super) fn temp_path(disk: &dyn Disk, operation: &Operation) -> String {
    format!("{}/next.tmp", log(disk).trash_folder(operation))
}

impl SessionPayload {
    pub(super) fn new(session: &str, count: usize) -> Self {
        Self { session: session.to_owned(), count, former: None, left: None }
    }
}

impl LogPayload for SessionPayload {
    type Subject = InstanceSubject;

    fn subject(&self) -> Option<InstanceSubject> {
        Some(InstanceSubject { name: self.session.clone(), count: self.count })
    }
}

fn is_completed(disk: &dyn Disk, line: &Recorded<SessionPayload>) -> io::Result<bool> {
    match (&line.subject.left, &line.subject.former) {
        (Some(_), _) => disk.stat(&temp_path(disk, &line.operation)).map(|found| found.is_none()),
        // A deletion moves the file itself to this path.
        (None, Some(former)) => disk.stat(former).map(|found| found.is_some()),
        (None, None) => Ok(true),
    }
}

/// Returns the error that the log cannot be read or written.
pub(super) fn log_error(error: io::Error) -> InstanceError {
    file_error(FOLDER, error)
}

/// Iterates over the operations that were carried out, newest first.
pub(super) fn operations(
    disk: &dyn Disk,
) -> Result<impl Iterator<Item = Result<Recorded<SessionPayload>, InstanceError>>, InstanceError> {
    let completed = log(disk).operations(log_error)?.filter_map(move |line| {
        let line = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        is_completed(disk, &line).map_err(log_error).map(|is_completed| is_completed.then_some(line)).transpose()
    });
    Ok(mark_undone_lazily(completed))
}

/// Returns the operation `undone`, if it can be undone, and its record.
pub(super) fn find(disk: &dyn Disk, undone: &OperationId) -> Result<(Recorded<SessionPayload>, InstanceRecord), InstanceError> {
    find_undoable(operations(disk)?, undone)
}
