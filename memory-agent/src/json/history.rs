//! What was done, and the way back, in JSON.

use chrono::{DateTime, Utc};
use memory_core::instance::{InstanceRecord, InstanceUndone};
use memory_core::topic::TopicRecord;
use memory_core::{Logged, OperationId, Outcome, Record, RecordedChange, RecordedFile, Trashed, Undone};
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
    changes: Option<Vec<ChangeShape<'a>>>,
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
struct Records<'a> {
    operations: Vec<RecordShape<'a>>,
}

#[derive(Serialize)]
struct Reversal<'a> {
    operation: &'a str,
    undone: RecordShape<'a>,
}

#[derive(Serialize)]
struct Restored<'a> {
    id: String,
    path: &'a str,
    trash: &'a str,
}

#[derive(Serialize)]
struct Trash<'a> {
    files: Vec<TrashedShape<'a>>,
    total: u64,
    bytes: u64,
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
struct Purged {
    files: u64,
    bytes: u64,
}

/// Writes one operation of the journal: `{operation, at, verb, by, undoes?, undone_by?, files, changes}`, where each change
/// is `{id, before?, after?}`, and a file `{path, hash, trash?}`.
pub fn record(record: &Record, changes: &[RecordedChange]) -> Value {
    let changes = changes.iter().map(ChangeShape::of).collect();
    value(&RecordShape { changes: Some(changes), ..RecordShape::of(record) })
}

/// Writes what was done: `{operations: [{operation, at, verb, by?, undoes?, undone_by?, files, bank?, scope?, keys?, instance?, session?,
/// key?, records?, topics?}]}`; `files` is how many files were changed, and what was done to a bank, an instance or topics names it.
pub fn logged(logged: &[Logged]) -> Value {
    value(&Records { operations: logged.iter().map(RecordShape::of_logged).collect() })
}

/// Writes what was done to a bank, as [`logged`] does.
pub fn bank_record(record: &Logged) -> Value {
    value(&RecordShape::of_logged(record))
}

/// Writes what was taken back: `operation` is the undo itself, and `undone` what it took back, as [`logged`] has it.
pub fn undone(undone: &Undone) -> Value {
    value(&Reversal { operation: undone.undo.as_str(), undone: RecordShape::of(&undone.record) })
}

/// Writes what was done to an instance, as [`logged`] does.
pub fn instance_record(instance: &str, record: &InstanceRecord) -> Value {
    value(&RecordShape::of_instance(instance, record))
}

/// Writes what was taken back of an instance, as [`undone`] does.
pub fn instance_undone(instance: &str, undone: &InstanceUndone) -> Value {
    value(&Reversal { operation: undone.undo.as_str(), undone: RecordShape::of_instance(instance, &undone.record) })
}

/// Writes what came back from trash: `{id, path, trash}`.
pub fn restored(trashed: &Trashed, outcome: &Outcome) -> Value {
    let (Outcome::Kept { id, path } | Outcome::Duplicate { id, path } | Outcome::Removed { id, path }) = outcome;
    value(&Restored { id: id.to_string(), path, trash: &trashed.trash })
}

/// Writes what is in the trash: some of its files, and the number and bytes of all of them.
pub fn trashed(files: &[Trashed], total: u64, bytes: u64) -> Value {
    value(&Trash { files: files.iter().map(TrashedShape::of).collect(), total, bytes })
}

/// Writes how much was removed for good: `{files, bytes}`.
pub fn purged(files: u64, bytes: u64) -> Value {
    value(&Purged { files, bytes })
}

impl<'a> RecordShape<'a> {
    fn of(record: &'a Record) -> Self {
        let state = (record.undoes.as_ref(), record.undone_by.as_ref());
        Self {
            by: Some(&record.by),
            files: record.files,
            ..Self::of_one_file((&record.id, record.at), record.verb.as_str(), state)
        }
    }

    fn of_logged(logged: &'a Logged) -> Self {
        match logged {
            Logged::Notes(record) => Self::of(record),
            Logged::Bank(scope, record) => Self {
                by: Some(&record.operation.by),
                bank: Some(record.bank.as_str()),
                scope: Some(scope.as_str()),
                keys: Some(&record.keys),
                ..Self::of_one_file(
                    (&record.operation.id, record.operation.at),
                    record.operation.verb.as_str(),
                    (record.undoes.as_ref(), record.undone_by.as_ref()),
                )
            },
            Logged::Topics(record) => Self::of_topics(record),
            Logged::Instance(instance, record) => Self::of_instance(instance, record),
        }
    }

    fn of_instance(instance: &'a str, record: &'a InstanceRecord) -> Self {
        let is_session = instance.starts_with("history/");
        Self {
            instance: Some(instance),
            session: is_session.then_some(record.subject.as_str()),
            key: (!is_session).then_some(record.subject.as_str()),
            records: is_session.then_some(record.count),
            ..Self::of_one_file(
                (&record.operation.id, record.operation.at),
                record.verb.as_str(),
                (record.undoes.as_ref(), record.undone_by.as_ref()),
            )
        }
    }

    /// Writes what was done to topics.
    pub(super) fn of_topics(record: &'a TopicRecord) -> Self {
        Self {
            by: Some(&record.operation.by),
            files: record.files.len() as u64,
            topics: Some(&record.files),
            ..Self::of_one_file(
                (&record.operation.id, record.operation.at),
                record.operation.verb.as_str(),
                (record.undoes.as_ref(), record.undone_by.as_ref()),
            )
        }
    }

    fn of_one_file(
        (id, at): (&'a OperationId, DateTime<Utc>),
        verb: &'a str,
        (undoes, undone_by): (Option<&'a OperationId>, Option<&'a OperationId>),
    ) -> Self {
        Self {
            operation: id.as_str(),
            at: time::text(at),
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
    fn of(trashed: &'a Trashed) -> Self {
        let Trashed { id, path, trash, operation, verb, at, size } = trashed;
        Self {
            id: id.to_string(),
            path,
            trash,
            operation: operation.as_str(),
            verb: verb.as_str(),
            at: time::text(*at),
            size: *size,
        }
    }
}
