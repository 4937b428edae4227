//! Lists, undoes and purges operations on topics.

use chrono::{DateTime, Utc};

use super::{TopicError, TopicRecord, TopicVerb, Topics};
use crate::{OperationId, StoreError};

/// The result of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicUndoReport {
    /// The operation that was undone.
    pub record: TopicRecord,
    /// The undo operation; undoing it repeats the original operation.
    pub undo: OperationId,
}

/// Returns the operations on these topics, newest first.
///
/// # Errors
/// If the log of operations cannot be read.
pub fn history(topics: &Topics) -> Result<Vec<TopicRecord>, TopicError> {
    topics.store.history()
}

/// Returns the last operation that can be undone, if any.
///
/// # Errors
/// If the log of operations cannot be read.
pub fn last(topics: &Topics) -> Result<Option<TopicRecord>, TopicError> {
    let is_open = |record: &TopicRecord| record.operation.verb != TopicVerb::Undo && record.undone_by.is_none();
    Ok(history(topics)?.into_iter().find(is_open))
}

/// Deletes the previous versions of changes in whole months that ended before `before`.
///
/// Returns the number of files and bytes deleted.
///
/// # Errors
/// If the versions cannot be read or deleted.
pub fn purge(topics: &Topics, before: DateTime<Utc>) -> Result<(u64, u64), TopicError> {
    topics.store.purge(before)
}

/// Undoes the operation on topics with an id that starts with `reference`, of at least 4 digits.
///
/// Undoing an undo repeats the original operation.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if no operation or more than one matches; [`TopicError::ChangedSince`] if its
/// result was changed afterwards.
pub fn undo(topics: &Topics, reference: &str) -> Result<TopicUndoReport, TopicError> {
    let wanted = reference.trim().to_lowercase();
    let is_wanted = |record: &TopicRecord| 4 <= wanted.len() && record.operation.id.as_str().starts_with(&wanted);
    let found: Vec<_> = history(topics)?.into_iter().filter(is_wanted).collect();
    let unknown = |wanted: String| TopicError::from(StoreError::OperationNotFound { wanted });
    let record = match &found[..] {
        [] => return Err(unknown(format!("no operation has the id {reference}"))),
        [record] => record,
        _ => return Err(unknown(format!("{reference} is a prefix of more than one operation id"))),
    };
    let operation = topics.operation(TopicVerb::Undo);
    let record = topics.store.undo(&record.operation.id, &operation)?;
    Ok(TopicUndoReport { record, undo: operation.id })
}
