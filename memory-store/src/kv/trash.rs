//! The payload of the operation log of values, and the previous values.

use std::collections::HashMap;

use memory_core::instance::kv::ValueKey;
use memory_core::instance::{InstanceError, InstanceSubject};
use memory_core::{Operation, OperationId, Recorded, StoreError};
use serde::{Deserialize, Serialize};

use crate::disk::{Disk, parent_folder};
use crate::history::file_error;
use crate::oplog::{LogPayload, OperationLog, hash_bytes};

/// Maximum size in bytes of a previous value within a line of the log.
const MAX_INLINE_VALUE: usize = 64 * 1024;

/// The change of one value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ValuePayload {
    pub key: String,
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

impl LogPayload for ValuePayload {
    type Subject = InstanceSubject;
    type Error = InstanceError;
    const FOLDER: &'static str = "trash";

    fn subject(&self) -> Option<InstanceSubject> {
        Some(InstanceSubject::new(&self.key, 1))
    }
}

/// Returns the log of a folder of values.
pub(super) fn log(disk: &dyn Disk) -> OperationLog<'_, ValuePayload> {
    OperationLog::new(disk)
}

/// An operation on a value that is about to be carried out.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueOperation<'a> {
    pub operation: &'a Operation,
    pub undoes: Option<&'a OperationId>,
}

/// Returns the record of an operation, and writes the previous value to the trash if it is too long for the record.
pub(super) fn record_operation(
    disk: &dyn Disk,
    key: &ValueKey,
    former: Option<&[u8]>,
    next: Option<&[u8]>,
    note: ValueOperation<'_>,
) -> Result<Recorded<ValuePayload>, InstanceError> {
    let ValueOperation { operation, undoes } = note;
    let value = former
        .and_then(|former| str::from_utf8(former).ok())
        .filter(|value| value.len() <= MAX_INLINE_VALUE);
    let long = former.filter(|_| value.is_none());
    let file = format!("{}.value", log(disk).trash_folder(operation));
    if let Some(former) = long {
        let kept = disk
            .write(&file, former)
            .and_then(|()| disk.sync_file(&file))
            .and_then(|()| disk.sync_folder(parent_folder(&file)));
        kept.map_err(file_error(&file))?;
    }
    let payload = ValuePayload {
        key: key.as_str().to_owned(),
        value: value.map(str::to_owned),
        file: long.map(|_| file),
        before: former.map(hash_bytes),
        after: next.map(hash_bytes),
    };
    Ok(Recorded::new(operation, payload, undoes))
}

/// Returns the value before an operation, if the key was set.
pub(super) fn previous_value(
    disk: &dyn Disk,
    line: &Recorded<ValuePayload>,
) -> Result<Option<Vec<u8>>, InstanceError> {
    let missing = || StoreError::OperationNotFound {
        wanted: format!("the value before {} was purged", line.operation.id),
    };
    match (&line.subject.value, &line.subject.file) {
        (Some(value), _) => Ok(Some(value.clone().into_bytes())),
        (None, Some(file)) => {
            let read = disk.read(file).map_err(file_error(file))?;
            Ok(Some(read.ok_or_else(missing)?.0))
        }
        (None, None) => Ok(None),
    }
}

/// Iterates over the operations that were carried out, newest first.
///
/// `now` returns the hash of the current value of a key. A line is written before the value, so a crash may leave the
/// line of an operation that was not carried out. Such lines are found by following the hashes back from the current
/// value: each line must lead to the state in which the next one started.
pub(super) fn operations<'a>(
    disk: &'a dyn Disk,
    now: impl Fn(&str) -> Result<Option<String>, InstanceError> + 'a,
) -> Result<impl Iterator<Item = Result<Recorded<ValuePayload>, InstanceError>> + 'a, InstanceError>
{
    let mut states: HashMap<String, Option<String>> = HashMap::new();
    log(disk).completed_operations(move |line| {
        let ValuePayload {
            key, before, after, ..
        } = &line.subject;
        let state = match states.get_mut(key) {
            Some(state) => state,
            None => states.entry(key.clone()).or_insert(now(key)?),
        };
        // If neither hash matches, the value was changed without a line in the log, for example by hand.
        let was_carried_out = after == state || before != state;
        if was_carried_out {
            state.clone_from(before);
        }
        Ok(was_carried_out)
    })
}
