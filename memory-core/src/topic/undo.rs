//! Lists, undoes and purges operations on topics.

use chrono::{DateTime, Utc};

use super::{TopicError, TopicRecord, TopicSubject, Topics};
use crate::{Recorded, Undone, Verb, find_by_prefix};

/// The result of an undo.
pub type TopicUndoReport = Undone<TopicSubject>;

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
    Ok(history(topics)?.into_iter().find(Recorded::is_open))
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
/// Those of [`find_by_prefix()`]; [`TopicError::ChangedSince`] if its result was changed afterwards.
pub fn undo(topics: &Topics, reference: &str) -> Result<TopicUndoReport, TopicError> {
    let record = find_by_prefix(history(topics)?.into_iter().map(Ok::<_, TopicError>), reference)?;
    let operation = topics.operation(Verb::Undo);
    let record = topics.store.undo(&record.operation.id, &operation)?;
    Ok(Undone::new(record, operation.id))
}
