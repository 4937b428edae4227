//! The payload of the operation log of conversations, for `log` and `undo`.
//!
//! The content is in the files of entries and tombstones.

use std::io;

use memory_core::conversation::{ConversationId, ConversationSubject, EntryId};
use memory_core::{Recorded, StoreError, mark_undone};
use serde::{Deserialize, Serialize};

use crate::disk::Disk;
use crate::error::io_error;
use crate::oplog::{LogPayload, OperationLog};

/// The folder of the journal, outside the folder in which other programs search for entries.
pub(super) const FOLDER: &str = ".conversations/journal";

/// The changed entries of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConversationPayload {
    pub(super) conversation: String,
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

impl ConversationPayload {
    /// Returns the payload of an operation without entries.
    pub(super) fn new(conversation: &ConversationId) -> Self {
        Self { conversation: conversation.to_string(), added: Vec::new(), deleted: Vec::new() }
    }
}

impl LogPayload for ConversationPayload {
    type Subject = ConversationSubject;

    fn subject(&self) -> Option<ConversationSubject> {
        let id = |item: &JournaledEntry| item.id.parse::<EntryId>().ok();
        let deleted = |item: &JournaledEntry| {
            let by = item.replaced_by.as_deref().and_then(|by| by.parse().ok());
            Some((id(item)?, by))
        };
        Some(ConversationSubject {
            conversation: self.conversation.parse().ok()?,
            added: self.added.iter().filter_map(id).collect(),
            deleted: self.deleted.iter().filter_map(deleted).collect(),
        })
    }
}

/// Returns the log of a folder of conversations.
pub(super) fn log(disk: &dyn Disk) -> OperationLog<'_, ConversationPayload> {
    OperationLog::new(disk, FOLDER)
}

/// Appends an operation to the journal, durably.
pub(super) fn append(disk: &dyn Disk, line: &Recorded<ConversationPayload>) -> Result<(), StoreError> {
    log(disk).append(line).map_err(|error| io_error(format!("write {FOLDER}"), error))
}

/// Returns up to `limit` of the newest operations, newest first.
pub(super) fn operations(disk: &dyn Disk, limit: usize) -> Result<Vec<Recorded<ConversationPayload>>, StoreError> {
    let operations = log(disk).operations().map_err(read_error)?.take(limit);
    let mut operations = operations.collect::<Result<Vec<_>, _>>().map_err(read_error)?;
    mark_undone(&mut operations);
    Ok(operations)
}

pub(super) fn read_error(error: io::Error) -> StoreError {
    io_error(format!("read {FOLDER}"), error)
}
