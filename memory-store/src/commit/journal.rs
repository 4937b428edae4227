//! The payload of the journal: the previous and new state of each file of an operation on memories.

use std::io;

use memory_core::{ChangedFiles, ContentHash, MemoryId, ParseError, RecordedChange, RecordedFile, StoreError};
use serde::{Deserialize, Serialize};

use crate::disk::Disk;
use crate::error::io_error;
use crate::oplog::{LogPayload, OperationLog};

const FOLDER: &str = "journal";

/// The changes of an operation, or of a part of a long one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WireChanges", into = "WireChanges")]
pub(crate) struct JournalPayload {
    pub(crate) changes: Vec<RecordedChange>,
}

impl LogPayload for JournalPayload {
    type Subject = ChangedFiles;

    fn subject(&self) -> Option<ChangedFiles> {
        Some(ChangedFiles { count: self.changes.len() as u64 })
    }
}

/// Returns the journal of a home.
pub(crate) fn journal(disk: &dyn Disk) -> OperationLog<'_, JournalPayload> {
    OperationLog::new(disk, FOLDER)
}

/// Returns the error that the journal cannot be read.
pub(crate) fn journal_read_error(error: io::Error) -> StoreError {
    io_error(format!("read {FOLDER}"), error)
}

/// Returns the error that the journal cannot be written.
pub(crate) fn journal_write_error(error: io::Error) -> StoreError {
    io_error(format!("write {FOLDER}"), error)
}

#[derive(Serialize, Deserialize)]
struct WireChanges {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<WireChange>,
}

#[derive(Serialize, Deserialize)]
struct WireChange {
    id: String,
    before: Option<WireFile>,
    after: Option<WireFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct WireFile {
    path: String,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trash: Option<String>,
}

impl From<JournalPayload> for WireChanges {
    fn from(payload: JournalPayload) -> Self {
        let file = |RecordedFile { path, hash, trash }| WireFile { path, hash: hash.to_string(), trash };
        let change = |RecordedChange { id, before, after, why }| WireChange {
            id: id.to_string(),
            before: before.map(file),
            after: after.map(file),
            why,
        };
        Self { changes: payload.changes.into_iter().map(change).collect() }
    }
}

impl TryFrom<WireChanges> for JournalPayload {
    type Error = ParseError;

    fn try_from(wire: WireChanges) -> Result<Self, ParseError> {
        let file = |WireFile { path, hash, trash }| Ok(RecordedFile { path, hash: hash.parse::<ContentHash>()?, trash });
        let change = |WireChange { id, before, after, why }| {
            let (before, after) = (before.map(file).transpose()?, after.map(file).transpose()?);
            Ok(RecordedChange { id: id.parse::<MemoryId>()?, before, after, why })
        };
        Ok(Self { changes: wire.changes.into_iter().map(change).collect::<Result<_, ParseError>>()? })
    }
}
