//! Lists and undoes operations on the content of instances.

use std::fmt::Debug;
use std::iter;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::InstanceError;
use crate::{
    Clock, IdSource, Operation, OperationId, Recorded, StoreError, Undone, Verb, find_by_prefix,
};

/// An iterator over operations, newest first.
pub type InstanceRecords<'a> = Box<dyn Iterator<Item = Result<InstanceRecord, InstanceError>> + 'a>;

/// The undo interface of a store of sessions or values. The suites of these stores check it.
///
/// It lists operations that deleted or replaced something, and undos of these. All methods may be called from any
/// thread and from multiple processes concurrently.
pub trait InstanceOperations: Debug + Send + Sync {
    /// Returns the completed operations, newest first.
    ///
    /// # Errors
    /// If the log of operations cannot be read.
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError>;

    /// Undoes the operation `undone` completely or not at all, and returns its record.
    ///
    /// An operation on several sessions is undone for one session after the other, after a check of all of them. If it is
    /// interrupted, undoing and repeating the undo completes it.
    ///
    /// The undo is itself an operation; undoing it repeats the original operation. Once this returns, it survives a
    /// crash and a power loss. Restored records precede those that were appended since, which are preserved. A value is
    /// restored only if the key is in the state that the operation produced.
    ///
    /// # Errors
    /// [`StoreError::OperationNotFound`] if it does not exist or its previous content was purged;
    /// [`StoreError::Invalid`] if it is already undone; [`InstanceError::ChangedSince`] if its result was changed
    /// afterwards.
    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<InstanceRecord, InstanceError>;

    /// Deletes the previous content of operations in whole months that ended before `before`.
    ///
    /// Returns the number of files and bytes deleted. Those operations are no longer listed and cannot be undone.
    ///
    /// # Errors
    /// If the files cannot be read or deleted.
    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError>;
}

/// An operation on the content of an instance in the log.
pub type InstanceRecord = Recorded<InstanceSubject>;

/// The session or value that an operation changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceSubject {
    /// The session or key.
    pub name: String,
    /// Number of records that were deleted, imported or restored; 1 for a value.
    pub count: usize,
    /// Number of further sessions that the operation changed.
    pub more: usize,
}

impl InstanceSubject {
    /// Returns the description of a change of one session or value.
    pub fn new(name: &str, count: usize) -> Self {
        Self {
            name: name.to_owned(),
            count,
            more: 0,
        }
    }

    /// Returns the name of the session or value, with the number of further sessions.
    pub fn label(&self) -> String {
        if self.more == 0 {
            self.name.clone()
        } else {
            format!("{} and {} more", self.name, self.more)
        }
    }
}

/// Joins the consecutive records of each operation on several sessions to one.
pub fn join_parts<E>(
    records: impl Iterator<Item = Result<InstanceRecord, E>>,
) -> impl Iterator<Item = Result<InstanceRecord, E>> {
    let mut records = records.peekable();
    iter::from_fn(move || {
        let mut first = match records.next()? {
            Ok(first) => first,
            Err(error) => return Some(Err(error)),
        };
        let is_part = |next: &Result<InstanceRecord, E>| {
            next.as_ref()
                .is_ok_and(|next| next.operation.id == first.operation.id)
        };
        let mut parts = Vec::new();
        while let Some(Ok(part)) = records.next_if(is_part) {
            parts.push(part.subject);
        }
        for part in parts {
            first.subject = InstanceSubject {
                name: part.name,
                count: first.subject.count + part.count,
                more: first.subject.more + 1,
            };
        }
        Some(Ok(first))
    })
}

/// An instance with its undo interface.
#[derive(Debug, Clone)]
pub struct NamedInstance {
    /// The full name, such as `history/main`.
    pub name: String,
    /// The store of its sessions or values.
    pub store: Arc<dyn InstanceOperations>,
}

/// The result of an undo.
pub type InstanceUndoReport = Undone<InstanceSubject>;

/// Returns the last `limit` operations, newest first.
///
/// # Errors
/// If the log of operations cannot be read.
pub fn operations(
    store: &dyn InstanceOperations,
    limit: usize,
) -> Result<Vec<InstanceRecord>, InstanceError> {
    store.operations()?.take(limit).collect()
}

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// A reference has at least 4 digits. Undoing an undo repeats the original operation.
///
/// # Errors
/// See [`InstanceOperations::undo`]; [`StoreError::Ambiguous`] if more than one operation matches.
pub fn undo(
    store: &dyn InstanceOperations,
    reference: Option<&str>,
    clock: &dyn Clock,
    ids: &dyn IdSource,
) -> Result<InstanceUndoReport, InstanceError> {
    undo_as(
        store,
        reference,
        &Operation::new(Verb::Undo, "", clock, ids),
    )
}

/// Undoes an operation as [`undo()`] does; `operation` is the undo.
pub(crate) fn undo_as(
    store: &dyn InstanceOperations,
    reference: Option<&str>,
    operation: &Operation,
) -> Result<InstanceUndoReport, InstanceError> {
    let found = match reference {
        Some(reference) => find_by_prefix(store.operations()?, reference)?,
        None => last(store)?.ok_or_else(|| StoreError::OperationNotFound {
            wanted: "there is no operation to undo".into(),
        })?,
    };
    let record = store.undo(&found.operation.id, operation)?;
    Ok(Undone::new(record, operation.id.clone()))
}

/// Returns the operation that would be undone next, if any.
fn last(store: &dyn InstanceOperations) -> Result<Option<InstanceRecord>, InstanceError> {
    store
        .operations()?
        .find(|record| record.as_ref().map_or(true, Recorded::is_open))
        .transpose()
}
