//! The JSON of operations, of undo and of the trash.

use memory_core::bank::BankSubject;
use memory_core::conversation::{ConversationEntry, ConversationSubject, DeletedEntry, EntryId};
use memory_core::instance::InstanceSubject;
use memory_core::topic::TopicSubject;
use memory_core::{
    ChangeOutcome, LogEntry, Operation, OperationId, RecordedChange, RecordedFile, Subject,
    TrashedFile, UndoneOperation,
};
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
    sessions: Option<usize>,
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
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    left: &'a [String],
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
    #[serde(skip_serializing_if = "str::is_empty")]
    by: &'a str,
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
pub fn record(record: &LogEntry, changes: &[RecordedChange]) -> Value {
    let changes = changes.iter().map(ChangeShape::of).collect();
    value(&RecordShape {
        changes: Some(changes),
        ..RecordShape::of(record)
    })
}

/// Returns the JSON of a list of operations.
///
/// `{operations: [{operation, at, verb, by?, undoes?, undone_by?, files, bank?, scope?, keys?, instance?, session?,
/// key?, records?, topics?, conversation?, memory_path?, entries?}]}`; `files` is the number of changed files. An
/// operation on a bank, an instance, topics or a conversation names it. `entries` of a conversation are `{id, change,
/// replaced_by?}` with the `change` `added` or `deleted`.
pub fn operations(logged: &[LogEntry]) -> Value {
    value(&OperationsShape {
        operations: logged.iter().map(RecordShape::of).collect(),
    })
}

/// Returns the JSON of an operation, as in [`operations`].
pub fn operation(logged: &LogEntry) -> Value {
    value(&RecordShape::of(logged))
}

/// Returns the JSON of an undo.
///
/// `operation` is the id of the undo itself, and `undone` the reverted operation as in [`operations`]. `left` is present if
/// files of a large operation were changed since, and contains their paths.
pub fn undo_result(undone: &UndoneOperation) -> Value {
    value(&UndoShape {
        operation: undone.undo.as_str(),
        undone: RecordShape::of(&undone.record),
        left: &undone.left,
    })
}

/// Returns the JSON of an operation on a conversation, as in [`operations`].
///
/// Each entry that still exists has its content, which `text` looks up.
pub fn conversation_record<'a>(
    logged: &'a LogEntry,
    text: &dyn Fn(&EntryId) -> Option<&'a ConversationEntry>,
) -> Value {
    let mut shape = RecordShape::of(logged);
    if let Subject::Conversation(_, subject) = &logged.subject {
        let ids = subject
            .added
            .iter()
            .chain(subject.deleted.iter().map(|(id, _)| id));
        for (entry, id) in shape.entries.iter_mut().flatten().zip(ids) {
            entry.content = text(id).map(|entry| entry.content.as_str());
        }
    }
    value(&shape)
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
    let (id, conversation, trash) = (
        entry.id.as_str(),
        entry.conversation.as_str(),
        entry.trash.as_str(),
    );
    value(&RestoredEntry {
        id,
        path,
        trash,
        conversation,
        memory_path,
    })
}

/// Returns the JSON of a restored file: `{id, path, trash}`.
pub fn restored_file(trashed: &TrashedFile, outcome: &ChangeOutcome) -> Value {
    let (ChangeOutcome::Kept { id, path }
    | ChangeOutcome::Duplicate { id, path }
    | ChangeOutcome::Removed { id, path }) = outcome;
    value(&RestoredShape {
        id: id.to_string(),
        path,
        trash: &trashed.trash,
    })
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
    fn of(record: &'a LogEntry) -> Self {
        let shape = Self::from_record(record);
        match &record.subject {
            Subject::Notes(files) => Self {
                files: files.count,
                ..shape
            },
            Subject::Bank(scope, BankSubject { bank, keys }) => Self {
                bank: Some(bank.as_str()),
                scope: Some(scope.as_str()),
                keys: Some(keys),
                ..shape
            },
            Subject::Topics(TopicSubject { files }) => Self {
                files: files.len() as u64,
                topics: Some(files),
                ..shape
            },
            Subject::Instance(instance, InstanceSubject { name, count, more }) => {
                let is_session = instance.starts_with("history/");
                Self {
                    by: None,
                    instance: Some(instance),
                    session: is_session.then_some(name.as_str()),
                    key: (!is_session).then_some(name.as_str()),
                    records: is_session.then_some(*count),
                    sessions: (*more != 0).then_some(more + 1),
                    ..shape
                }
            }
            Subject::Conversation(
                memory_path,
                ConversationSubject {
                    conversation,
                    added,
                    deleted,
                },
            ) => {
                let added = added.iter().map(|id| EntryShape {
                    id: id.as_str(),
                    change: "added",
                    replaced_by: None,
                    content: None,
                });
                let deleted = deleted.iter().map(|(id, by)| EntryShape {
                    id: id.as_str(),
                    change: "deleted",
                    replaced_by: by.as_ref().map(EntryId::as_str),
                    content: None,
                });
                let entries: Vec<_> = added.chain(deleted).collect();
                Self {
                    files: entries.len() as u64,
                    conversation: Some(conversation.as_str()),
                    memory_path: Some(memory_path),
                    entries: Some(entries),
                    ..shape
                }
            }
        }
    }

    fn from_record(record: &'a LogEntry) -> Self {
        let Operation { id, verb, by, at } = &record.operation;
        Self {
            operation: id.as_str(),
            at: time::rfc3339(*at),
            verb: verb.as_str(),
            by: Some(by),
            undoes: record.undoes.as_ref().map(OperationId::as_str),
            undone_by: record.undone_by.as_ref().map(OperationId::as_str),
            files: 1,
            bank: None,
            scope: None,
            keys: None,
            instance: None,
            session: None,
            key: None,
            records: None,
            sessions: None,
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
        let RecordedChange {
            id,
            before,
            after,
            why,
        } = change;
        let (before, after) = (
            before.as_ref().map(FileShape::of),
            after.as_ref().map(FileShape::of),
        );
        Self {
            id: id.to_string(),
            before,
            after,
            why: why.as_deref(),
        }
    }
}

impl<'a> FileShape<'a> {
    fn of(file: &'a RecordedFile) -> Self {
        Self {
            path: &file.path,
            hash: file.hash.to_string(),
            trash: file.trash.as_deref(),
        }
    }
}

impl<'a> TrashedShape<'a> {
    fn of(trashed: &'a TrashedFile) -> Self {
        let TrashedFile {
            id,
            path,
            trash,
            operation:
                Operation {
                    id: operation,
                    verb,
                    by,
                    at,
                },
            size,
        } = trashed;
        Self {
            id: id.to_string(),
            path,
            trash,
            operation: operation.as_str(),
            verb: verb.as_str(),
            by,
            at: time::rfc3339(*at),
            size: *size,
        }
    }
}
