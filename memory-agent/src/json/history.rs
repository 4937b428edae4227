//! The JSON of operations, of undo and of the trash.

use chrono::{DateTime, Utc};
use memory_core::conversation::{ConversationEntry, ConversationRecord, ConversationUndoReport, DeletedEntry, EntryId};
use memory_core::instance::{InstanceRecord, InstanceUndoReport};
use memory_core::topic::TopicRecord;
use memory_core::{ChangeOutcome, LogEntry, OperationId, OperationRecord, RecordedChange, RecordedFile, TrashedFile, UndoReport};
use serde::Serialize;
use serde_json::Value;

use super::{time, value};

#[derive(Serialize)]
pub(super) struct RecordShape<'a> {
    operation: &'a str,
    at: String,
    verb: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undone_by: Option<&'a str>,
    files: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bank: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topics: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<EntryShape<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<ChangeShape<'a>>>,
}

#[derive(Serialize)]
struct EntryShape<'a> {
    id: &'a str,
    change: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

#[derive(Serialize)]
struct DeletedEntryShape<'a> {
    id: &'a str,
    path: &'a str,
    trash: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verb: Option<&'a str>,
    at: String,
    size: u64,
    conversation: &'a str,
    role: &'a str,
    memory_path: &'a str,
}

#[derive(Serialize)]
struct RestoredEntry<'a> {
    id: &'a str,
    path: &'a str,
    trash: &'a str,
    conversation: &'a str,
    memory_path: &'a str,
}

#[derive(Serialize)]
struct ChangeShape<'a> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<FileShape<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<FileShape<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct FileShape<'a> {
    path: &'a str,
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trash: Option<&'a str>,
}

#[derive(Serialize)]
struct OperationsShape<'a> {
    operations: Vec<RecordShape<'a>>,
}

#[derive(Serialize)]
struct UndoShape<'a> {
    operation: &'a str,
    undone: RecordShape<'a>,
}

#[derive(Serialize)]
struct RestoredShape<'a> {
    id: String,
    path: &'a str,
    trash: &'a str,
}

#[derive(Serialize)]
struct TrashedShape<'a> {
    id: String,
    path: &'a str,
    trash: &'a str,
    operation: &'a str,
    verb: &'a str,
    at: String,
    size: u64,
}

#[derive(Serialize)]
struct PurgedShape {
    files: u64,
    bytes: u64,
}

/// Returns the JSON of an operation of the journal.
///
/// `{operation, at, verb, by, undoes?, undone_by?, files, changes}`; a change is `{id, before?, after?}`, and a file is
/// `{path, hash, trash?}`.
pub fn record(record: &OperationRecord, changes: &[RecordedChange]) -> Value {
    let changes = changes.iter().map(ChangeShape::of).collect();
    value(&RecordShape { changes: Some(changes), ..RecordShape::of(record) })
}

/// Returns the JSON of a list of operations.
///
/// `{operations: [{operation, at, verb, by?, undoes?, undone_by?, files, bank?, scope?, keys?, instance?, session?,
/// key?, records?, topics?, conversation?, memory_path?, entries?}]}`; `files` is the number of changed files. An
/// operation on a bank, an instance, topics or a conversation names it. `entries` of a conversation are `{id, change,
/// replaced_by?}` with the `change` `added` or `deleted`.
pub fn operations(logged: &[LogEntry]) -> Value {
    value(&OperationsShape { operations: logged.iter().map(RecordShape::from_logged).collect() })
}

/// Returns the JSON of an operation on a bank, as in [`operations`].
pub fn bank_record(record: &LogEntry) -> Value {
    value(&RecordShape::from_logged(record))
}

/// Returns the JSON of an undo.
///
/// `operation` is the id of the undo itself, and `undone` the reverted operation as in [`operations`].
pub fn undo_result(undone: &UndoReport) -> Value {
    value(&UndoShape { operation: undone.undo.as_str(), undone: RecordShape::of(&undone.record) })
}

/// Returns the JSON of an operation on an instance, as in [`operations`].
pub fn instance_record(instance: &str, record: &InstanceRecord) -> Value {
    value(&RecordShape::from_instance(instance, record))
}

/// Returns the JSON of an undo on an instance, as in [`undo_result`].
pub fn instance_undo(instance: &str, undone: &InstanceUndoReport) -> Value {
    value(&UndoShape { operation: undone.undo.as_str(), undone: RecordShape::from_instance(instance, &undone.record) })
}

/// Returns the JSON of an operation on a conversation, as in [`operations`].
///
/// Each entry that still exists has its content, which `text` looks up.
pub fn conversation_record<'a>(
    memory_path: &'a str,
    record: &'a ConversationRecord,
    text: &dyn Fn(&EntryId) -> Option<&'a ConversationEntry>,
) -> Value {
    let mut shape = RecordShape::from_conversation(memory_path, record);
    let ids = record.added.iter().chain(record.deleted.iter().map(|(id, _)| id));
    for (entry, id) in shape.entries.iter_mut().flatten().zip(ids) {
        entry.content = text(id).map(|entry| entry.content.as_str());
    }
    value(&shape)
}

/// Returns the JSON of an undo on a conversation, as in [`undo_result`].
pub fn conversation_undo(memory_path: &str, undone: &ConversationUndoReport) -> Value {
    let shape = RecordShape::from_conversation(memory_path, &undone.record);
    value(&UndoShape { operation: undone.undo.as_str(), undone: shape })
}

/// Returns the JSON of a deleted entry of a conversation.
///
/// `{id, path, trash, operation?, verb?, at, size, conversation, role, memory_path}`.
pub fn deleted_entry(memory_path: &str, entry: &DeletedEntry) -> Value {
    value(&DeletedEntryShape {
        id: entry.id.as_str(),
        path: &entry.path,
        trash: &entry.trash,
        operation: entry.operation.as_ref().map(|(id, _)| id.as_str()),
        verb: entry.operation.as_ref().map(|(_, verb)| verb.as_str()),
        at: time::rfc3339(entry.at),
        size: entry.size,
        conversation: entry.conversation.as_str(),
        role: entry.role.as_str(),
        memory_path,
    })
}

/// Returns the JSON of a restored entry: `{id, path, trash, conversation, memory_path}`.
pub fn restored_entry(memory_path: &str, entry: &DeletedEntry, path: &str) -> Value {
    let (id, conversation, trash) = (entry.id.as_str(), entry.conversation.as_str(), entry.trash.as_str());
    value(&RestoredEntry { id, path, trash, conversation, memory_path })
}

/// Returns the JSON of a restored file: `{id, path, trash}`.
pub fn restored_file(trashed: &TrashedFile, outcome: &ChangeOutcome) -> Value {
    let (ChangeOutcome::Kept { id, path } | ChangeOutcome::Duplicate { id, path } | ChangeOutcome::Removed { id, path }) =
        outcome;
    value(&RestoredShape { id: id.to_string(), path, trash: &trashed.trash })
}

/// Returns the JSON of a file in the trash: `{id, path, trash, operation, verb, at, size}`.
pub fn trashed_file(trashed: &TrashedFile) -> Value {
    value(&TrashedShape::of(trashed))
}

/// Returns the JSON of a purge: `{files, bytes}`.
pub fn purge_result(files: u64, bytes: u64) -> Value {
    value(&PurgedShape { files, bytes })
}

impl<'a> RecordShape<'a> {
    fn of(record: &'a OperationRecord) -> Self {
        let state = (record.undoes.as_ref(), record.undone_by.as_ref());
        Self {
            by: Some(&record.by),
            files: record.files,
            ..Self::from_operation((&record.id, record.at), record.verb.as_str(), state)
        }
    }

    fn from_logged(logged: &'a LogEntry) -> Self {
        match logged {
            LogEntry::Notes(record) => Self::of(record),
            LogEntry::Bank(scope, record) => Self {
                by: Some(&record.operation.by),
                bank: Some(record.bank.as_str()),
                scope: Some(scope.as_str()),
                keys: Some(&record.keys),
                ..Self::from_operation(
                    (&record.operation.id, record.operation.at),
                    record.operation.verb.as_str(),
                    (record.undoes.as_ref(), record.undone_by.as_ref()),
                )
            },
            LogEntry::Topics(record) => Self::from_topics(record),
            LogEntry::Instance(instance, record) => Self::from_instance(instance, record),
            LogEntry::Conversation(memory_path, record) => Self::from_conversation(memory_path, record),
        }
    }

    fn from_conversation(memory_path: &'a str, record: &'a ConversationRecord) -> Self {
        let added =
            record.added.iter().map(|id| EntryShape { id: id.as_str(), change: "added", replaced_by: None, content: None });
        let deleted = record.deleted.iter().map(|(id, by)| EntryShape {
            id: id.as_str(),
            change: "deleted",
            replaced_by: by.as_ref().map(EntryId::as_str),
            content: None,
        });
        Self {
            by: Some(&record.operation.by),
            files: (record.added.len() + record.deleted.len()) as u64,
            conversation: Some(record.conversation.as_str()),
            memory_path: Some(memory_path),
            entries: Some(added.chain(deleted).collect()),
            ..Self::from_operation(
                (&record.operation.id, record.operation.at),
                record.operation.verb.as_str(),
                (record.undoes.as_ref(), record.undone_by.as_ref()),
            )
        }
    }

    fn from_instance(instance: &'a str, record: &'a InstanceRecord) -> Self {
        let is_session = instance.starts_with("history/");
        Self {
            instance: Some(instance),
            session: is_session.then_some(record.subject.as_str()),
            key: (!is_session).then_some(record.subject.as_str()),
            records: is_session.then_some(record.count),
            ..Self::from_operation(
                (&record.operation.id, record.operation.at),
                record.verb.as_str(),
                (record.undoes.as_ref(), record.undone_by.as_ref()),
            )
        }
    }

    /// Builds the record of an operation on topics.
    pub(super) fn from_topics(record: &'a TopicRecord) -> Self {
        Self {
            by: Some(&record.operation.by),
            files: record.files.len() as u64,
            topics: Some(&record.files),
            ..Self::from_operation(
                (&record.operation.id, record.operation.at),
                record.operation.verb.as_str(),
                (record.undoes.as_ref(), record.undone_by.as_ref()),
            )
        }
    }

    fn from_operation(
        (id, at): (&'a OperationId, DateTime<Utc>),
        verb: &'a str,
        (undoes, undone_by): (Option<&'a OperationId>, Option<&'a OperationId>),
    ) -> Self {
        Self {
            operation: id.as_str(),
            at: time::rfc3339(at),
            verb,
            by: None,
            undoes: undoes.map(OperationId::as_str),
            undone_by: undone_by.map(OperationId::as_str),
            files: 1,
            bank: None,
            scope: None,
            keys: None,
            instance: None,
            session: None,
            key: None,
            records: None,
            topics: None,
            conversation: None,
            memory_path: None,
            entries: None,
            changes: None,
        }
    }
}

impl<'a> ChangeShape<'a> {
    fn of(change: &'a RecordedChange) -> Self {
        let RecordedChange { id, before, after, why } = change;
        let (before, after) = (before.as_ref().map(FileShape::of), after.as_ref().map(FileShape::of));
        Self { id: id.to_string(), before, after, why: why.as_deref() }
    }
}

impl<'a> FileShape<'a> {
    fn of(file: &'a RecordedFile) -> Self {
        Self { path: &file.path, hash: file.hash.to_string(), trash: file.trash.as_deref() }
    }
}

impl<'a> TrashedShape<'a> {
    fn of(trashed: &'a TrashedFile) -> Self {
        let TrashedFile { id, path, trash, operation, verb, at, size } = trashed;
        Self {
            id: id.to_string(),
            path,
            trash,
            operation: operation.as_str(),
            verb: verb.as_str(),
            at: time::rfc3339(*at),
            size: *size,
        }
    }
}
