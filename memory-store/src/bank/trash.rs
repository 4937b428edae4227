//! The payload of the operation log of banks: the previous state of each changed part.

use std::collections::BTreeSet;

use memory_core::bank::{BankError, BankName, BankSubject};
use memory_core::{Recorded, StoreError};
use serde::{Deserialize, Serialize};

use super::folder::WritableBankFolder;
use crate::disk::Disk;
use crate::lock::WriterLock;
use crate::oplog::{LogPayload, OperationError, OperationLog, SingleFileOperation};

/// The folder of the log and of deleted files.
pub(super) const FOLDER: &str = ".trash";

/// The changes of one bank.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct BankPayload {
    pub bank: String,
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

impl BankPayload {
    pub(super) fn new(bank: &BankName) -> Self {
        Self {
            bank: bank.as_str().to_owned(),
            ..Self::default()
        }
    }
}

impl LogPayload for BankPayload {
    type Subject = BankSubject;
    type Error = BankError;
    const FOLDER: &'static str = FOLDER;

    fn subject(&self) -> Option<BankSubject> {
        let keys = self.entries.iter().map(|entry| entry.key.clone()).collect();
        Some(BankSubject {
            bank: self.bank.parse().ok()?,
            keys,
        })
    }
}

/// Returns the log of a folder of banks.
pub(super) fn log(disk: &dyn Disk) -> OperationLog<'_, BankPayload> {
    OperationLog::new(disk)
}

/// The name of the lock of the log; no bank can have this name.
const LOCK: &str = "_journal";

/// Returns the engine for the file of a bank, whose new content waits at `waiting`.
pub(super) fn file_operation<'a>(
    place: &WritableBankFolder<'a>,
    waiting: String,
) -> SingleFileOperation<'a, BankPayload> {
    let WritableBankFolder {
        disk,
        root,
        options,
    } = *place;
    let lock = move || {
        Ok(Some(WriterLock::acquire_named(
            disk,
            root,
            LOCK,
            options.patience,
        )?))
    };
    SingleFileOperation {
        disk,
        log: log(disk),
        waiting,
        lock: Box::new(lock),
    }
}

impl From<OperationError> for BankError {
    fn from(error: OperationError) -> Self {
        StoreError::from(error).into()
    }
}

/// Returns the keys of a bank according to the log, sorted.
pub(super) fn logged_keys(disk: &dyn Disk, bank: &BankName) -> Result<BTreeSet<String>, BankError> {
    let mut newest_first = Vec::new();
    for line in log(disk).operations()? {
        let BankPayload {
            bank: own,
            made,
            entries,
            file,
            ..
        } = line?.subject;
        if own != bank.as_str() {
            continue;
        }
        let was_deleted = file.is_some_and(|file| file.after.is_none());
        newest_first.push(
            entries
                .into_iter()
                .map(|entry| (entry.key, entry.after.is_some()))
                .collect::<Vec<_>>(),
        );
        if was_deleted || made {
            break;
        }
    }
    let mut keys = BTreeSet::new();
    for (key, exists) in newest_first.into_iter().rev().flatten() {
        if exists {
            keys.insert(key);
        } else {
            keys.remove(&key);
        }
    }
    Ok(keys)
}

/// Returns the last operation of a bank if it has this checksum and was not aborted.
pub(super) fn last_with_checksum(
    disk: &dyn Disk,
    bank: &BankName,
    sum: u32,
) -> Result<Option<Recorded<BankPayload>>, BankError> {
    // Earlier operations were checked by earlier writers; one of them may have written the same bytes.
    let last = log(disk).find_last(|line| line.subject.bank == bank.as_str())?;
    Ok(last.and_then(|(line, is_aborted)| {
        (!is_aborted && line.subject.sum == Some(sum)).then_some(line)
    }))
}
