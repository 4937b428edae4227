//! The way back.

use chrono::{DateTime, Utc};

use super::{TopicError, TopicRecord, TopicVerb, Topics};
use crate::{OperationId, StoreError};

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicUndone {
    /// The operation that was taken back.
    pub record: TopicRecord,
    /// The operation that took it back; taking back this one does the first again.
    pub undo: OperationId,
}

/// Returns what was done to the topics at hand, newest first.
///
/// # Errors
/// When that cannot be read.
pub fn history(topics: &Topics) -> Result<Vec<TopicRecord>, TopicError> {
    topics.store.history()
}

/// Returns the last operation that can be taken back, if there is one.
///
/// # Errors
/// When what was done cannot be read.
pub fn last(topics: &Topics) -> Result<Option<TopicRecord>, TopicError> {
    let is_open = |record: &TopicRecord| record.operation.verb != TopicVerb::Undo && record.undone_by.is_none();
    Ok(history(topics)?.into_iter().find(is_open))
}

/// Removes for good what was there before changes of long ago, by whole months that ended before `before`; returns how many files and bytes
/// that was.
///
/// # Errors
/// When it cannot be read or removed.
pub fn purge(topics: &Topics, before: DateTime<Utc>) -> Result<(u64, u64), TopicError> {
    topics.store.purge(before)
}

/// Takes back the operation on topics whose id begins with `reference`, 4 digits of it or more. Taking back an undo does the operation
/// again.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if there is none; [`TopicError::ChangedSince`] if what it left was changed since.
pub fn undo(topics: &Topics, reference: &str) -> Result<TopicUndone, TopicError> {
    let wanted = reference.trim().to_lowercase();
    let is_wanted = |record: &TopicRecord| 4 <= wanted.len() && record.operation.id.as_str().starts_with(&wanted);
    let found: Vec<_> = history(topics)?.into_iter().filter(is_wanted).collect();
    let unknown = |wanted: String| TopicError::from(StoreError::OperationNotFound { wanted });
    let record = match &found[..] {
        [] => return Err(unknown(format!("no operation is called {reference}"))),
        [record] => record,
        _ => return Err(unknown(format!("{reference} is the beginning of more than one operation"))),
    };
    let operation = topics.operation(TopicVerb::Undo);
    let record = topics.store.undo(&record.operation.id, &operation)?;
    Ok(TopicUndone { record, undo: operation.id })
}
