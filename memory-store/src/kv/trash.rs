//! The log of operations on values, with one line per operation, and the previous values.

use std::collections::HashMap;
use std::io;

use memory_core::instance::kv::ValueKey;
use memory_core::instance::{InstanceError, InstanceRecord};
use memory_core::{ContentHash, Operation, OperationId, StoreError, mark_undone_lazily};
use serde::{Deserialize, Serialize};

use crate::disk::{Disk, LazyDisk};
use crate::history::{file_error, folder_error};
use crate::monthly_log;

/// The folder of the log and of the previous values.
pub(super) const FOLDER: &str = "trash";

/// Maximum size in bytes of a previous value within a line of the log.
const MAX_INLINE_VALUE: usize = 64 * 1024;

/// A line of the log: an operation on a value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ValueTrashLine {
    operation: String,
    at: String,
    verb: String,
    pub key: String,
    /// The operation that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<String>,
    /// The previous value, if it is a short text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The file with the previous value, if it is long or not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The SHA-256 of the previous value, if the key was set.
    before: Option<String>,
    /// The SHA-256 of the value after the operation, if the key is then set.
    pub after: Option<String>,
}

/// An operation on a value that is about to be carried out.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueOperation<'a> {
    pub operation: &'a Operation,
    pub undoes: Option<&'a OperationId>,
}

/// Returns the hash of a value, as the log contains it.
pub(super) fn hash_value(value: &[u8]) -> String {
    ContentHash::from_bytes(value).to_string()
}

/// Logs an operation and its previous value, durably, before the value is set or deleted.
pub(super) fn log_operation(
    trash: &LazyDisk,
    key: &ValueKey,
    former: Option<&[u8]>,
    next: Option<&[u8]>,
    note: ValueOperation<'_>,
) -> Result<(), InstanceError> {
    let ValueOperation { operation, undoes } = note;
    let disk = trash.get_or_create().map_err(folder_error(trash.root()))?;
    let month = format!("{FOLDER}/{}", operation.at.format("%Y-%m"));
    let value = former.and_then(|former| str::from_utf8(former).ok()).filter(|value| value.len() <= MAX_INLINE_VALUE);
    let long = former.filter(|_| value.is_none());
    let file = format!("{month}/{}.value", operation.id);
    if let Some(former) = long {
        let kept = disk.write(&file, former).and_then(|()| disk.sync_file(&file)).and_then(|()| disk.sync_folder(&month));
        kept.map_err(|error| file_error(&file, error))?;
    }
    let line = ValueTrashLine {
        operation: operation.id.to_string(),
        at: monthly_log::format_time(operation),
        verb: operation.verb.as_str().to_owned(),
        key: key.as_str().to_owned(),
        undoes: undoes.map(OperationId::to_string),
        value: value.map(str::to_owned),
        file: long.map(|_| file),
        before: former.map(hash_value),
        after: next.map(hash_value),
    };
    let bytes = serde_json::to_vec(&line).expect("strings have a JSON form");
    monthly_log::append(disk, FOLDER, operation.at, &bytes).map_err(|error| file_error(FOLDER, error))
}

impl ValueTrashLine {
    fn to_record(&self) -> Option<InstanceRecord> {
        monthly_log::parse_record(&self.operation, &self.at, &self.verb, self.undoes.as_deref(), (&self.key, 1))
    }

    /// Returns the previous value, if the key was set.
    pub(super) fn previous_value(&self, disk: &dyn Disk) -> Result<Option<Vec<u8>>, InstanceError> {
        let missing = || StoreError::OperationNotFound { wanted: format!("the value before {} was purged", self.operation) };
        match (&self.value, &self.file) {
            (Some(value), _) => Ok(Some(value.clone().into_bytes())),
            (None, Some(file)) => {
                let read = disk.read(file).map_err(|error| file_error(file, error))?;
                Ok(Some(read.ok_or_else(missing)?.0))
            }
            (None, None) => Ok(None),
        }
    }
}

/// Returns the lines of the operations that were carried out, newest first.
///
/// `now` returns the hash of the current value of a key. A line is written before the value, so a crash may leave the
/// line of an operation that was not carried out. Such lines are found by following the hashes back from the current
/// value: each line must lead to the state in which the next one started.
pub(super) fn completed_lines<'a>(
    disk: &'a dyn Disk,
    now: impl Fn(&str) -> Result<Option<String>, InstanceError> + 'a,
) -> Result<impl Iterator<Item = Result<ValueTrashLine, InstanceError>> + 'a, InstanceError> {
    let told = |error: io::Error| file_error(FOLDER, error);
    let lines = monthly_log::lines_newest_first(disk, FOLDER).map_err(told)?;
    let mut states: HashMap<String, Option<String>> = HashMap::new();
    Ok(lines.filter_map(move |line| {
        let line = match line {
            Ok(line) => serde_json::from_slice::<ValueTrashLine>(&line).ok()?,
            Err(error) => return Some(Err(told(error))),
        };
        let state = match states.get_mut(&line.key) {
            Some(state) => state,
            None => match now(&line.key) {
                Ok(state) => states.entry(line.key.clone()).or_insert(state),
                Err(error) => return Some(Err(error)),
            },
        };
        // If neither hash matches, the value was changed without a line in the log, for example by hand.
        let was_carried_out = line.after == *state || line.before != *state;
        was_carried_out.then(|| {
            state.clone_from(&line.before);
            Ok(line)
        })
    }))
}

/// Returns the operations that were carried out, newest first.
pub(super) fn records<'a>(
    disk: &'a dyn Disk,
    now: impl Fn(&str) -> Result<Option<String>, InstanceError> + 'a,
) -> Result<impl Iterator<Item = Result<InstanceRecord, InstanceError>> + 'a, InstanceError> {
    Ok(mark_undone_lazily(completed_lines(disk, now)?.filter_map(|line| line.map(|line| line.to_record()).transpose())))
}

/// Returns the line of an operation that can be undone, and the operation.
pub(super) fn open(
    disk: &dyn Disk,
    now: &dyn Fn(&str) -> Result<Option<String>, InstanceError>,
    undone: &OperationId,
) -> Result<(ValueTrashLine, InstanceRecord), InstanceError> {
    let missing = || StoreError::OperationNotFound { wanted: format!("no operation has the id {undone}") };
    let is_it = |record: &InstanceRecord| record.operation.id == *undone;
    let record = records(disk, now)?.find(|record| record.as_ref().map_or(true, is_it)).transpose()?.ok_or_else(missing)?;
    if let Some(other) = &record.undone_by {
        return Err(StoreError::Invalid { why: format!("{undone} was already undone by {other}") }.into());
    }
    let is_its = |line: &ValueTrashLine| line.operation == undone.as_str();
    let line = completed_lines(disk, now)?.find(|line| line.as_ref().map_or(true, is_its)).transpose()?.ok_or_else(missing)?;
    Ok((line, record))
}
