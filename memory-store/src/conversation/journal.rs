//! The journal that records each operation on conversations in one line, for `log` and `undo`.
//!
//! The content is in the files of entries and tombstones.

use std::io;

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::conversation::{ConversationId, ConversationRecord, ConversationSubject, EntryId};
use memory_core::{ContentHash, Operation, OperationId, StoreError, mark_undone};
use serde::{Deserialize, Serialize};

use crate::disk::Disk;
use crate::error::io_error;
use crate::monthly_log;

/// The folder of the journal, outside the folder in which other programs search for entries.
pub(super) const FOLDER: &str = ".conversations/journal";

/// An operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConversationJournalLine {
    pub(super) operation: String,
    at: String,
    verb: String,
    by: String,
    pub(super) conversation: String,
    /// The operation that this one reverts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<String>,
    /// The added entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) added: Vec<JournaledEntry>,
    /// The entries that became tombstones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) deleted: Vec<JournaledEntry>,
}

/// An entry of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JournaledEntry {
    pub(super) id: String,
    /// The path of the entry while it is active.
    pub(super) path: String,
    /// The SHA-256 of its file while it is active.
    pub(super) hash: String,
    /// The entry that replaces it when it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaced_by: Option<String>,
}

impl ConversationJournalLine {
    /// Returns the line of an operation without entries.
    pub(super) fn new(operation: &Operation, conversation: &ConversationId, undoes: Option<&OperationId>) -> Self {
        Self {
            operation: operation.id.to_string(),
            at: operation.at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
            verb: operation.verb.as_str().to_owned(),
            by: operation.by.clone(),
            conversation: conversation.to_string(),
            undoes: undoes.map(OperationId::to_string),
            added: Vec::new(),
            deleted: Vec::new(),
        }
    }

    /// Appends the line to the journal, durably.
    pub(super) fn append(&self, disk: &dyn Disk, at: DateTime<Utc>) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(self).expect("texts have a JSON form");
        monthly_log::append(disk, FOLDER, at, &bytes).map_err(write_error)
    }

    /// Returns the operation, or `None` if the line is invalid.
    pub(super) fn to_record(&self) -> Option<ConversationRecord> {
        let id = |item: &JournaledEntry| item.id.parse::<EntryId>().ok();
        let deleted = |item: &JournaledEntry| {
            let by = item.replaced_by.as_deref().and_then(|by| by.parse().ok());
            Some((id(item)?, by))
        };
        Some(ConversationRecord {
            operation: monthly_log::parse_operation(&self.operation, &self.verb, &self.by, &self.at)?,
            subject: ConversationSubject {
                conversation: self.conversation.parse().ok()?,
                added: self.added.iter().filter_map(id).collect(),
                deleted: self.deleted.iter().filter_map(deleted).collect(),
            },
            undoes: self.undoes.as_deref().and_then(|id| id.parse().ok()),
            undone_by: None,
        })
    }
}

/// Returns the hash of a file.
pub(super) fn hash_bytes(bytes: &[u8]) -> String {
    ContentHash::from_bytes(bytes).to_string()
}

/// Returns up to `limit` of the newest lines with their operations, newest first. Omits invalid lines.
pub(super) fn read_lines(
    disk: &dyn Disk,
    limit: usize,
) -> Result<Vec<(ConversationJournalLine, ConversationRecord)>, StoreError> {
    let mut found = Vec::new();
    for line in monthly_log::lines_newest_first(disk, FOLDER).map_err(read_error)?.take(limit) {
        let line = serde_json::from_slice::<ConversationJournalLine>(&line.map_err(read_error)?).ok();
        found.extend(line.and_then(|line| line.to_record().map(|record| (line, record))));
    }
    let mut records: Vec<ConversationRecord> = found.iter().map(|(_, record)| record.clone()).collect();
    mark_undone(&mut records);
    Ok(found.into_iter().zip(records).map(|((line, _), record)| (line, record)).collect())
}

pub(super) fn read_error(error: io::Error) -> StoreError {
    io_error(format!("read {FOLDER}"), error)
}

fn write_error(error: io::Error) -> StoreError {
    io_error(format!("write {FOLDER}"), error)
}
