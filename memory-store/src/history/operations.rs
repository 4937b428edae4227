//! The payload of the operation log of sessions: removed or restored records.

use std::io;

use memory_core::instance::{InstanceError, InstanceSubject};
use memory_core::{Operation, OperationId, Recorded, StoreError};
use serde::{Deserialize, Serialize};

use super::file::file_error;
use crate::disk::Disk;
use crate::oplog::{LogPayload, OperationLog, hash_bytes, not_found_error};

/// The folder of the log and of the previous files.
const FOLDER: &str = ".trash";

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
    /// The path of the new file before it replaces the file of the session; if it still exists, the operation was not
    /// carried out. Operations before the import of sessions have one fixed path instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
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
    OperationLog::new(disk)
}

/// Returns the path of a new file before it replaces the file `path` of a session.
pub(super) fn next_path(disk: &dyn Disk, operation: &Operation, path: &str) -> String {
    let hash = hash_bytes(path.as_bytes());
    format!(
        "{}/next-{}.tmp",
        log(disk).trash_folder(operation),
        &hash[..16]
    )
}

impl SessionPayload {
    pub(super) fn new(session: &str, count: usize) -> Self {
        Self {
            session: session.to_owned(),
            count,
            former: None,
            left: None,
            next: None,
        }
    }
}

impl LogPayload for SessionPayload {
    type Subject = InstanceSubject;
    type Error = InstanceError;
    const FOLDER: &'static str = FOLDER;

    fn subject(&self) -> Option<InstanceSubject> {
        Some(InstanceSubject::new(&self.session, self.count))
    }
}

fn is_completed(disk: &dyn Disk, line: &Recorded<SessionPayload>) -> io::Result<bool> {
    match (&line.subject.left, &line.subject.former) {
        (Some(_), _) => {
            let fixed = || format!("{}/next.tmp", log(disk).trash_folder(&line.operation));
            let next = line.subject.next.clone().unwrap_or_else(fixed);
            disk.stat(&next).map(|found| found.is_none())
        }
        // A deletion moves the file itself to this path.
        (None, Some(former)) => disk.stat(former).map(|found| found.is_some()),
        (None, None) => Ok(true),
    }
}

/// Iterates over the operations that were carried out, newest first.
pub(super) fn operations(
    disk: &dyn Disk,
) -> Result<impl Iterator<Item = Result<Recorded<SessionPayload>, InstanceError>>, InstanceError> {
    log(disk).completed_operations(|line| is_completed(disk, line).map_err(file_error(FOLDER)))
}

/// Returns the changes of the operation `undone`, one per session, if it can be undone.
pub(super) fn find(
    disk: &dyn Disk,
    undone: &OperationId,
) -> Result<Vec<Recorded<SessionPayload>>, InstanceError> {
    let is_part = |record: &Result<Recorded<_>, _>| {
        record
            .as_ref()
            .map_or(true, |record| record.operation.id == *undone)
    };
    let parts: Vec<Recorded<SessionPayload>> = operations(disk)?
        .filter(is_part)
        .collect::<Result<_, _>>()?;
    match parts.first().map(|part| &part.undone_by) {
        None => Err(not_found_error(undone).into()),
        Some(Some(other)) => Err(StoreError::Invalid {
            why: format!("{undone} was already undone by {other}"),
        }
        .into()),
        Some(None) => Ok(parts),
    }
}
