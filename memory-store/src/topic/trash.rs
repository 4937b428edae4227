//! The log of operations, with one line per operation, and the previous files.

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::topic::{INDEX_FILE, TopicError, TopicRecord, TopicSubject, TrashedTopic};
use serde::{Deserialize, Serialize};

use super::error::{read_error, write_error};
use crate::disk::Disk;
use crate::monthly_log;
use memory_core::{Operation, mark_undone};

/// The folder of the log and of the previous files.
pub(super) const FOLDER: &str = ".trash";

/// A line of the log: an operation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TopicTrashLine {
    pub operation: String,
    pub at: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verb: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The operation that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TopicFileLine>,
    /// The copy of an index of another program, if this operation is the first to change it.
    ///
    /// It is in a separate line of the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Whether this line marks the operation as not carried out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
}

/// The change of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TopicFileLine {
    pub path: String,
    /// The hash of the previous file, if it existed.
    pub before: Option<String>,
    /// The path of the previous file in the trash, if it existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
    /// The hash of the file after the operation, if it then exists.
    pub after: Option<String>,
}

impl TopicTrashLine {
    pub(super) fn of(operation: &Operation, undoes: Option<&str>, files: Vec<TopicFileLine>) -> Self {
        Self {
            operation: operation.id.to_string(),
            at: operation.at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
            verb: operation.verb.as_str().to_owned(),
            by: operation.by.clone(),
            undoes: undoes.map(str::to_owned),
            files,
            index: None,
            aborted: false,
        }
    }

    /// Returns the public record of the operation.
    fn to_record(&self) -> Option<TopicRecord> {
        Some(TopicRecord {
            operation: monthly_log::parse_operation(&self.operation, &self.verb, &self.by, &self.at)?,
            subject: TopicSubject { files: self.files.iter().map(|file| file.path.clone()).collect() },
            undoes: self.undoes.as_deref().and_then(|id| id.parse().ok()),
            undone_by: None,
        })
    }
}

/// Returns the folder for the previous files of an operation.
pub(super) fn operation_folder(operation: &Operation) -> String {
    format!("{FOLDER}/{}/{}", operation.at.format("%Y-%m"), operation.id)
}

/// Appends a line durably.
pub(super) fn append_line(disk: &dyn Disk, line: &TopicTrashLine) -> Result<(), TopicError> {
    let at = DateTime::parse_from_rfc3339(&line.at).map_or(DateTime::<Utc>::UNIX_EPOCH, |at| at.to_utc());
    let bytes = serde_json::to_vec(line).expect("strings have a JSON form");
    monthly_log::append(disk, FOLDER, at, &bytes).map_err(write_error(FOLDER))
}

/// Copies an index of another program to the trash before an operation first changes it.
pub(super) fn copy_index_to_trash(disk: &dyn Disk, operation: &Operation) -> Result<(), TopicError> {
    let trash = format!("{}/{INDEX_FILE}", operation_folder(operation));
    let told = write_error(&trash);
    disk.hard_link(INDEX_FILE, &trash).and_then(|()| disk.sync_folder(&operation_folder(operation))).map_err(told)?;
    append_line(disk, &TopicTrashLine { index: Some(trash), ..TopicTrashLine::of(operation, None, Vec::new()) })
}

/// Marks an operation as not carried out.
pub(super) fn append_abort(disk: &dyn Disk, line: &TopicTrashLine) -> Result<(), TopicError> {
    let TopicTrashLine { operation, at, .. } = line.clone();
    let (verb, by) = (String::new(), String::new());
    append_line(disk, &TopicTrashLine { operation, at, verb, by, undoes: None, files: Vec::new(), index: None, aborted: true })
}

/// Returns the lines of the operations that were carried out, oldest first. Invalid lines are skipped.
pub(super) fn completed_lines(disk: &dyn Disk) -> Result<Vec<TopicTrashLine>, TopicError> {
    let mut lines: Vec<TopicTrashLine> = Vec::new();
    let mut months: Vec<_> =
        disk.list_folder(FOLDER).map_err(|error| read_error(FOLDER, error))?.into_iter().map(|entry| entry.name).collect();
    months.retain(|name| monthly_log::is_monthly_file(name));
    months.sort();
    for month in months {
        let path = format!("{FOLDER}/{month}");
        let length = disk.stat(&path).map_err(|error| read_error(&path, error))?.map_or(0, |found| found.size);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = disk.read_part(&path, 0, length).map_err(|error| read_error(&path, error))?;
        for line in bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<TopicTrashLine>(line).ok()) {
            if !line.aborted {
                lines.push(line);
            } else if let Some(at) = lines.iter().rposition(|other| other.operation == line.operation) {
                lines.remove(at);
            }
        }
    }
    Ok(lines)
}

/// Returns the operations that were carried out, newest first.
pub(super) fn records(disk: &dyn Disk) -> Result<Vec<TopicRecord>, TopicError> {
    let lines = completed_lines(disk)?;
    let mut records: Vec<_> =
        lines.iter().rev().filter(|line| !line.files.is_empty()).filter_map(TopicTrashLine::to_record).collect();
    mark_undone(&mut records);
    Ok(records)
}

/// Returns the files in the trash, newest first.
pub(super) fn list_trashed(disk: &dyn Disk) -> Result<Vec<TrashedTopic>, TopicError> {
    let mut trashed = Vec::new();
    for line in completed_lines(disk)?.into_iter().rev() {
        let Some(record) = line.to_record() else { continue };
        let index = line.index.map(|trash| (INDEX_FILE.to_owned(), trash));
        let files = line.files.into_iter().filter_map(|TopicFileLine { path, trash, .. }| Some((path, trash?)));
        for (path, trash) in files.chain(index) {
            // The file may have been purged.
            let Some(found) = disk.stat(&trash).map_err(|error| read_error(&trash, error))? else { continue };
            trashed.push(TrashedTopic { path, trash, size: found.size, operation: record.operation.clone() });
        }
    }
    Ok(trashed)
}
