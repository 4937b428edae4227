//! The log of operations that removed or restored records, with one line per operation.

use std::io;

use memory_core::instance::{InstanceError, InstanceRecord};
use memory_core::{Operation, OperationId, StoreError, mark_undone_lazily};
use serde::{Deserialize, Serialize};

use super::file::file_error;
use crate::disk::Disk;
use crate::monthly_log;

/// The folder of the log and of the previous files.
pub(super) const FOLDER: &str = ".trash";

/// A line of the log: an operation on a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SessionTrashLine {
    pub operation: String,
    pub at: String,
    pub verb: String,
    pub session: String,
    /// Number of records removed or restored.
    pub count: usize,
    /// The operation that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
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

/// Returns the folder for the previous file of an operation.
pub(super) fn operation_folder(operation: &Operation) -> String {
    format!("{FOLDER}/{}/{}", operation.at.format("%Y-%m"), operation.id)
}

/// Returns the path of a new file before it replaces the file of the session.
///
/// If this path still exists, the operation was not carried out.
pub(super) fn temp_path(operation: &Operation) -> String {
    format!("{}/next.tmp", operation_folder(operation))
}

impl SessionTrashLine {
    pub(super) fn of(operation: &Operation, session: &str, count: usize) -> Self {
        Self {
            operation: operation.id.to_string(),
            at: monthly_log::format_time(operation),
            verb: operation.verb.as_str().to_owned(),
            session: session.to_owned(),
            count,
            undoes: None,
            former: None,
            left: None,
        }
    }

    pub(super) fn to_record(&self) -> Option<InstanceRecord> {
        monthly_log::parse_record(&self.operation, &self.at, &self.verb, self.undoes.as_deref(), (&self.session, self.count))
    }

    fn is_completed(&self, disk: &dyn Disk) -> io::Result<bool> {
        let Some(record) = self.to_record() else { return Ok(false) };
        match (&self.left, &self.former) {
            (Some(_), _) => disk.stat(&temp_path(&record.operation)).map(|found| found.is_none()),
            // A deletion moves the file itself to this path.
            (None, Some(former)) => disk.stat(former).map(|found| found.is_some()),
            (None, None) => Ok(true),
        }
    }
}

/// Logs an operation before it is carried out, durably. The caller holds the lock of the log.
pub(super) fn log_operation(disk: &dyn Disk, operation: &Operation, line: &SessionTrashLine) -> io::Result<()> {
    let bytes = serde_json::to_vec(line).expect("strings and numbers have a JSON form");
    monthly_log::append(disk, FOLDER, operation.at, &bytes)
}

/// Returns the lines of the operations that were carried out, newest first.
pub(super) fn completed_lines(
    disk: &dyn Disk,
) -> Result<impl Iterator<Item = Result<SessionTrashLine, InstanceError>>, InstanceError> {
    let told = |error| file_error(FOLDER, error);
    let lines = monthly_log::lines_newest_first(disk, FOLDER).map_err(told)?;
    Ok(lines.filter_map(move |line| {
        let line = match line {
            Ok(line) => serde_json::from_slice::<SessionTrashLine>(&line).ok()?,
            Err(error) => return Some(Err(told(error))),
        };
        match line.is_completed(disk) {
            Ok(true) => Some(Ok(line)),
            Ok(false) => None,
            Err(error) => Some(Err(told(error))),
        }
    }))
}

/// Returns the operations that were carried out, newest first.
pub(super) fn records(disk: &dyn Disk) -> Result<impl Iterator<Item = Result<InstanceRecord, InstanceError>>, InstanceError> {
    Ok(mark_undone_lazily(completed_lines(disk)?.filter_map(|line| line.map(|line| line.to_record()).transpose())))
}

/// Returns the line of an operation that can be undone, and the operation.
pub(super) fn open(disk: &dyn Disk, undone: &OperationId) -> Result<(SessionTrashLine, InstanceRecord), InstanceError> {
    let missing = || StoreError::OperationNotFound { wanted: format!("no operation has the id {undone}") };
    let is_it = |record: &InstanceRecord| record.operation.id == *undone;
    let record = records(disk)?.find(|record| record.as_ref().map_or(true, is_it)).transpose()?.ok_or_else(missing)?;
    if let Some(other) = &record.undone_by {
        return Err(StoreError::Invalid { why: format!("{undone} was already undone by {other}") }.into());
    }
    let is_its = |line: &SessionTrashLine| line.operation == undone.as_str();
    let line = completed_lines(disk)?.find(|line| line.as_ref().map_or(true, is_its)).transpose()?.ok_or_else(missing)?;
    Ok((line, record))
}
