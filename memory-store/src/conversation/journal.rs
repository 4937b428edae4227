//! The operation log of conversations: its payload, and the decision what is recorded.
//!
//! The content is in the files of entries and tombstones.

use std::collections::BTreeSet;

use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationSubject, EntryChange, EntryId, EntryRole,
};
use memory_core::{Operation, Recorded, StoreError, Verb, mark_undone};
use serde::{Deserialize, Serialize};

use super::change::read_bytes;
use super::folder_cache::WriterState;
use super::format::encode;
use super::layout::{conversation_folder, name, role_folder};
use crate::disk::Disk;
use crate::oplog::{Durability, LogPayload, OperationLog, hash_bytes};

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
        Self {
            conversation: conversation.to_string(),
            added: Vec::new(),
            deleted: Vec::new(),
        }
    }
}

impl LogPayload for ConversationPayload {
    type Subject = ConversationSubject;
    type Error = StoreError;
    const FOLDER: &'static str = FOLDER;

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
    OperationLog::new(disk)
}

/// Appends an operation to the journal, durably.
pub(super) fn append(
    disk: &dyn Disk,
    line: &Recorded<ConversationPayload>,
) -> Result<(), StoreError> {
    Ok(log(disk).append(line, Durability::Synced)?)
}

/// Returns up to `limit` of the newest operations, newest first.
pub(super) fn operations(
    disk: &dyn Disk,
    limit: usize,
) -> Result<Vec<Recorded<ConversationPayload>>, StoreError> {
    let mut operations = log(disk)
        .operations()?
        .take(limit)
        .collect::<Result<Vec<_>, _>>()?;
    mark_undone(&mut operations);
    Ok(operations)
}

/// Number of newest operations to search for a repeated request.
const MAX_RECENT_OPERATIONS: usize = 64;

/// How to process changes that may repeat an earlier request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecordingDecision {
    /// The changes are new: write this line before they are applied.
    New(Recorded<ConversationPayload>),
    /// The changes are recorded already, or add no fact and delete no entry: apply them.
    ///
    /// Entries that were restored since are not deleted.
    Recorded {
        /// The entries that were restored after their deletion.
        restored: BTreeSet<EntryId>,
    },
    /// The changes were applied and undone: ignore them.
    Undone,
}

/// Returns how to process changes. The caller holds the lock.
pub(super) fn decide_recording(
    disk: &dyn Disk,
    conversation: &ConversationId,
    known: &WriterState,
    changes: &[EntryChange],
    operation: &Operation,
) -> Result<RecordingDecision, StoreError> {
    let mut line = ConversationPayload::new(conversation);
    for change in changes {
        match change {
            EntryChange::Add(ConversationEntry {
                role: EntryRole::Summary,
                ..
            }) => {}
            EntryChange::Add(entry) => {
                let path = format!(
                    "{}/{}/{}",
                    conversation_folder(disk, conversation),
                    role_folder(entry.role),
                    name(entry)
                );
                line.added.push(JournaledEntry {
                    id: entry.id.to_string(),
                    path,
                    hash: hash_bytes(encode(entry).as_bytes()),
                    replaced_by: None,
                });
            }
            EntryChange::Delete { id, replaced_by } => {
                let Some(path) = known.places.get(id) else {
                    continue;
                };
                let Some(bytes) = read_bytes(disk, path)? else {
                    continue;
                };
                let replaced_by = replaced_by.as_ref().map(EntryId::to_string);
                line.deleted.push(JournaledEntry {
                    id: id.to_string(),
                    path: path.clone(),
                    hash: hash_bytes(&bytes),
                    replaced_by,
                });
            }
        }
    }
    let ids = |items: &[JournaledEntry]| {
        items
            .iter()
            .map(|item| item.id.clone())
            .collect::<BTreeSet<_>>()
    };
    let (added, deleted) = (ids(&line.added), ids(&line.deleted));
    let mut restored: BTreeSet<EntryId> = BTreeSet::new();
    for record in operations(disk, MAX_RECENT_OPERATIONS)? {
        let other = &record.subject;
        let is_restore = record.operation.verb == Verb::Restore && record.undone_by.is_none();
        if is_restore && other.conversation == line.conversation {
            restored.extend(other.added.iter().filter_map(|item| item.id.parse().ok()));
        }
        let is_same =
            record.operation.verb == operation.verb && other.conversation == line.conversation;
        if !is_same || ids(&other.added) != added || !deleted.is_subset(&ids(&other.deleted)) {
            continue;
        }
        match record.undone_by {
            // Without new entries this may be a new request: it deletes restored entries again, and is recorded.
            None if added.is_empty() && restored.iter().any(|id| deleted.contains(id.as_str())) => {
                break;
            }
            None => return Ok(RecordingDecision::Recorded { restored }),
            // New entries have unique ids, so this is the same request.
            Some(_) if !added.is_empty() => return Ok(RecordingDecision::Undone),
            Some(_) => break,
        }
    }
    let adds_facts = changes
        .iter()
        .any(|change| matches!(change, EntryChange::Add(_)) && change.is_recorded());
    Ok(if adds_facts || !deleted.is_empty() {
        RecordingDecision::New(Recorded::new(operation, line, None))
    } else {
        RecordingDecision::Recorded {
            restored: BTreeSet::new(),
        }
    })
}
