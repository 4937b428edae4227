//! Lists and undoes operations on the content of instances.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{InstanceError, InstanceOperation};
use crate::{Clock, IdSource, OperationId, StoreError};

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
    /// The undo is itself an operation; undoing it repeats the original operation. Once this returns, it survives a
    /// crash and a power loss. Restored records precede those that were appended since, which are preserved. A value is
    /// restored only if the key is in the state that the operation produced.
    ///
    /// # Errors
    /// [`StoreError::OperationNotFound`] if it does not exist or its previous content was purged;
    /// [`StoreError::Invalid`] if it is already undone; [`InstanceError::ChangedSince`] if its result was changed
    /// afterwards.
    fn undo(&self, undone: &OperationId, operation: &InstanceOperation) -> Result<InstanceRecord, InstanceError>;

    /// Deletes the previous content of operations in whole months that ended before `before`.
    ///
    /// Returns the number of files and bytes deleted. Those operations are no longer listed and cannot be undone.
    ///
    /// # Errors
    /// If the files cannot be read or deleted.
    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError>;
}

/// A recorded operation on the content of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceRecord {
    /// The id and time of the operation.
    pub operation: InstanceOperation,
    /// The kind of operation.
    pub verb: InstanceVerb,
    /// The session or key.
    pub subject: String,
    /// Number of records that were deleted or restored; 1 for a value.
    pub count: usize,
    /// The operation that this one undid, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that undid this one, if any.
    pub undone_by: Option<OperationId>,
}

/// The kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstanceVerb {
    /// Replaces a value.
    Set,
    /// Deletes a value or a whole session.
    Delete,
    /// Deletes records of a session.
    Purge,
    /// Undoes an operation.
    Undo,
}

impl InstanceVerb {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Set, Self::Delete, Self::Purge, Self::Undo];

    /// Returns the identifier of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Delete => "delete",
            Self::Purge => "purge",
            Self::Undo => "undo",
        }
    }
}

/// Sets `undone_by` of each of `records`, which are newest first.
///
/// An undo that was itself undone has no effect.
pub fn mark_undone(
    records: impl Iterator<Item = Result<InstanceRecord, InstanceError>>,
) -> impl Iterator<Item = Result<InstanceRecord, InstanceError>> {
    let mut undone = HashMap::new();
    records.map(move |record| {
        let mut record = record?;
        record.undone_by = undone.remove(&record.operation.id);
        if let (None, Some(other)) = (&record.undone_by, &record.undoes) {
            undone.insert(other.clone(), record.operation.id.clone());
        }
        Ok(record)
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceUndoReport {
    /// The operation that was undone.
    pub record: InstanceRecord,
    /// The undo operation; undoing it repeats the original operation.
    pub undo: OperationId,
}

/// Returns the last `limit` operations, newest first.
///
/// # Errors
/// If the log of operations cannot be read.
pub fn operations(store: &dyn InstanceOperations, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
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
    let found = match reference {
        Some(reference) => find_by_prefix(store, reference)?,
        None => last(store)?,
    };
    let missing = || StoreError::OperationNotFound {
        wanted: match reference {
            Some(reference) => format!("no operation has the id {reference}"),
            None => "there is no operation to undo".to_owned(),
        },
    };
    let found = found.ok_or_else(missing)?;
    let operation = InstanceOperation::new(clock, ids);
    let record = store.undo(&found.operation.id, &operation)?;
    Ok(InstanceUndoReport { record, undo: operation.id })
}

/// Returns the operation that would be undone next, if any.
pub(crate) fn last(store: &dyn InstanceOperations) -> Result<Option<InstanceRecord>, InstanceError> {
    let is_open = |record: &InstanceRecord| record.verb != InstanceVerb::Undo && record.undone_by.is_none();
    store.operations()?.find(|record| record.as_ref().map_or(true, is_open)).transpose()
}

/// Returns the operation with an id that starts with `reference`, of at least 4 digits, if any.
fn find_by_prefix(store: &dyn InstanceOperations, reference: &str) -> Result<Option<InstanceRecord>, InstanceError> {
    let wanted = reference.trim().to_lowercase();
    if wanted.len() < 4 {
        return Ok(None);
    }
    let mut found = None::<InstanceRecord>;
    for record in store.operations()? {
        let record = record?;
        if !record.operation.id.as_str().starts_with(&wanted) {
            continue;
        }
        if let Some(other) = &found {
            let candidates = vec![other.operation.id.to_string(), record.operation.id.to_string()];
            return Err(StoreError::Ambiguous { reference: wanted, candidates }.into());
        }
        found = Some(record);
    }
    Ok(found)
}
