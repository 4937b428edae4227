//! The log of operations on banks, with the previous state of each changed part.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::bank::{BankError, BankName, BankRecord, BankSubject};
use memory_core::{ContentHash, Operation, mark_undone};
use serde::{Deserialize, Serialize};

use super::change::WritableBankFolder;
use super::file::read_error;
use crate::disk::Disk;
use crate::error::io_error;
use crate::lock::WriterLock;
use crate::monthly_log;

/// The folder of the log and of deleted files.
pub(super) const FOLDER: &str = ".trash";

/// One operation on one bank.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BankTrashLine {
    pub operation: String,
    pub at: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verb: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bank: String,
    /// The operation that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// Whether the operation created the bank.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<SchemaLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<BankFileLine>,
    /// The CRC-32 of the new file, by which recovery determines whether the operation was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<u32>,
    /// Whether this line records that the operation was not executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
}

/// The change of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct EntryLine {
    pub key: String,
    /// The text of the entry before the operation, if it existed.
    pub before: Option<String>,
    /// The hash of the entry after the operation, if it exists.
    pub after: Option<String>,
    /// The key of the nearest entry before it that remains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

/// The change of the schema.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SchemaLine {
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The replacement or deletion of the whole file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BankFileLine {
    /// The path of the file.
    pub path: String,
    /// The path of the copy in the trash, if the file existed.
    pub trash: Option<String>,
    /// The hash of the new file, if there is one.
    pub after: Option<String>,
}

impl BankTrashLine {
    pub(super) fn of(operation: &Operation, bank: &BankName) -> Self {
        Self {
            operation: operation.id.to_string(),
            at: operation.at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
            verb: operation.verb.as_str().to_owned(),
            by: operation.by.clone(),
            bank: bank.as_str().to_owned(),
            undoes: None,
            made: false,
            entries: Vec::new(),
            schema: None,
            file: None,
            sum: None,
            aborted: false,
        }
    }

    fn to_abort_line(&self) -> Self {
        let empty = String::new;
        Self {
            operation: self.operation.clone(),
            at: self.at.clone(),
            verb: empty(),
            by: empty(),
            bank: empty(),
            undoes: None,
            made: false,
            entries: Vec::new(),
            schema: None,
            file: None,
            sum: None,
            aborted: true,
        }
    }

    /// Converts the line to a record for the user, or returns `None` if it is invalid.
    pub(super) fn to_record(&self) -> Option<BankRecord> {
        Some(BankRecord {
            operation: monthly_log::parse_operation(&self.operation, &self.verb, &self.by, &self.at)?,
            subject: BankSubject {
                bank: self.bank.parse().ok()?,
                keys: self.entries.iter().map(|entry| entry.key.clone()).collect(),
            },
            undoes: self.undoes.as_deref().and_then(|id| id.parse().ok()),
            undone_by: None,
        })
    }
}

/// Returns the folder for the files of an operation.
pub(super) fn operation_folder(operation: &Operation) -> String {
    format!("{FOLDER}/{}/{}", operation.at.format("%Y-%m"), operation.id)
}

/// The name of the lock of the log; no bank can have this name.
const LOCK: &str = "_journal";

/// Appends a line, durably, under the lock of the log.
pub(super) fn append_line(place: &WritableBankFolder<'_>, at: DateTime<Utc>, line: &BankTrashLine) -> Result<(), BankError> {
    let _lock = WriterLock::acquire_named(place.root, LOCK, place.options.patience)?;
    let disk = place.disk;
    let bytes = serde_json::to_vec(line).expect("strings and numbers have a JSON form");
    monthly_log::append(disk, FOLDER, at, &bytes).map_err(|error| BankError::from(io_error(format!("write {FOLDER}"), error)))
}

/// Records that an operation was not executed.
pub(super) fn append_abort(place: &WritableBankFolder<'_>, line: &BankTrashLine) -> Result<(), BankError> {
    let at = DateTime::parse_from_rfc3339(&line.at).map_or(DateTime::UNIX_EPOCH, |at| at.to_utc());
    append_line(place, at, &line.to_abort_line())
}

/// Calls `keep` for all lines of executed operations, oldest first, and returns the results.
///
/// Lines that cannot be parsed are skipped.
pub(super) fn filter_map_lines<T>(
    disk: &dyn Disk,
    mut keep: impl FnMut(&BankTrashLine) -> Option<T>,
) -> Result<Vec<T>, BankError> {
    let mut kept: Vec<(String, T)> = Vec::new();
    for path in monthly_log::log_files(disk, FOLDER).map_err(|error| read_error(FOLDER, error))? {
        for_each_line(disk, &path, |bytes| {
            let Ok(line) = serde_json::from_slice::<BankTrashLine>(bytes) else { return };
            if line.aborted {
                // This is always the last line of its bank, because each writer recovers before it starts.
                if let Some(at) = kept.iter().rposition(|(operation, _)| *operation == line.operation) {
                    kept.remove(at);
                }
            } else if let Some(value) = keep(&line) {
                kept.push((line.operation, value));
            }
        })?;
    }
    Ok(kept.into_iter().map(|(_, value)| value).collect())
}

/// Returns the records of all operations, newest first.
pub(super) fn records(disk: &dyn Disk) -> Result<Vec<BankRecord>, BankError> {
    let mut records = filter_map_lines(disk, BankTrashLine::to_record)?;
    records.reverse();
    mark_undone(&mut records);
    Ok(records)
}

/// Returns the keys of a bank according to the log, sorted.
pub(super) fn logged_keys(disk: &dyn Disk, bank: &BankName) -> Result<BTreeSet<String>, BankError> {
    let of_bank = |line: &BankTrashLine| {
        let was_deleted = line.file.as_ref().is_some_and(|file| file.after.is_none());
        let entries = line.entries.iter().map(|entry| (entry.key.clone(), entry.after.is_some()));
        (line.bank == bank.as_str()).then(|| (was_deleted || line.made, entries.collect::<Vec<_>>()))
    };
    let mut keys = BTreeSet::new();
    for (begins_anew, entries) in filter_map_lines(disk, of_bank)? {
        if begins_anew {
            keys.clear();
        }
        for (key, is_there) in entries {
            if is_there {
                keys.insert(key)
            } else {
                keys.remove(&key)
            };
        }
    }
    Ok(keys)
}

/// Returns the last line of a bank if it has this checksum and no abort record.
pub(super) fn last_line_with_checksum(disk: &dyn Disk, bank: &BankName, sum: u32) -> Result<Option<BankTrashLine>, BankError> {
    let told = |error| read_error(FOLDER, error);
    let mut aborted = HashSet::new();
    for bytes in monthly_log::lines_newest_first(disk, FOLDER).map_err(told)? {
        let Ok(line) = serde_json::from_slice::<BankTrashLine>(&bytes.map_err(told)?) else { continue };
        if line.aborted {
            aborted.insert(line.operation);
        } else if line.bank == bank.as_str() {
            // Earlier lines were checked by earlier writers; one of them may have written the same bytes.
            return Ok((line.sum == Some(sum) && !aborted.contains(&line.operation)).then_some(line));
        }
    }
    Ok(None)
}

/// Returns the last line, executed or not.
pub(super) fn last(disk: &dyn Disk) -> Result<Option<BankTrashLine>, BankError> {
    let Some(path) = monthly_log::log_files(disk, FOLDER).map_err(|error| read_error(FOLDER, error))?.pop() else {
        return Ok(None);
    };
    let told = |error| read_error(&path, error);
    let size = disk.stat(&path).map_err(told)?.map_or(0, |found| found.size);
    let mut length = READ_SIZE as u64;
    loop {
        let start = size.saturating_sub(length);
        let bytes = disk.read_part(&path, start, usize::try_from(size - start).unwrap_or(usize::MAX)).map_err(told)?;
        // The first of these lines may be incomplete.
        let whole = if start == 0 { bytes.as_slice() } else { bytes.splitn(2, |&byte| byte == b'\n').nth(1).unwrap_or_default() };
        let last = whole.split(|&byte| byte == b'\n').rev().find_map(|line| serde_json::from_slice(line).ok());
        if last.is_some() || start == 0 {
            return Ok(last);
        }
        length = length.saturating_mul(4);
    }
}

/// Number of bytes to read at a time.
const READ_SIZE: usize = 1024 * 1024;

/// Calls `work` with each line of a file.
fn for_each_line(disk: &dyn Disk, path: &str, mut work: impl FnMut(&[u8])) -> Result<(), BankError> {
    let (mut at, mut open) = (0, Vec::new());
    loop {
        let bytes = disk.read_part(path, at, READ_SIZE).map_err(|error| read_error(path, error))?;
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
        let mut lines = bytes.split(|&byte| byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            open.extend_from_slice(line);
            if lines.peek().is_some() {
                work(&open);
                open.clear();
            }
        }
    }
    work(&open);
    Ok(())
}

/// Returns the hash of the text of an entry.
pub(super) fn hash_text(text: &str) -> String {
    ContentHash::of(text).to_string()
}
