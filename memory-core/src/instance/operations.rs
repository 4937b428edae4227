//! What was taken away or replaced, and the way back.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{InstanceError, InstanceOperation};
use crate::{Clock, IdSource, OperationId, StoreError};

/// What was done, newest first.
pub type InstanceRecords<'a> = Box<dyn Iterator<Item = Result<InstanceRecord, InstanceError>> + 'a>;

/// The way back of what holds sessions or values. The suites of these check it.
///
/// An operation is told here if it took something away, replaced it, or took such an operation back. All methods may be called from
/// any thread and from many processes at once.
pub trait Operations: Debug + Send + Sync {
    /// Returns what was done, newest first. What was begun and not carried out is not among it.
    ///
    /// # Errors
    /// When that cannot be read.
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError>;

    /// Takes back the operation `undone`, whole or not at all, and returns what it was. That is an operation itself and can be taken
    /// back, which does the first again. Once this returns, neither a crash nor a power cut loses it.
    ///
    /// Records that were taken away come back in their order, before those that were appended since, which stay. A value comes back
    /// only if the key is as the operation left it.
    ///
    /// # Errors
    /// [`StoreError::OperationNotFound`] if there is none, or what it took away is no longer kept; [`StoreError::Invalid`] if it was
    /// taken back already; [`InstanceError::ChangedSince`] if what it left was changed since.
    fn undo(&self, undone: &OperationId, operation: &InstanceOperation) -> Result<InstanceRecord, InstanceError>;

    /// Removes for good what was there before operations of long ago, by whole months that ended before `before`; returns how many
    /// files and bytes that was. Those operations are told no longer and cannot be taken back.
    ///
    /// # Errors
    /// When it cannot be read or removed.
    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError>;
}

/// Something that was done to what an instance holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceRecord {
    /// Its name, and when.
    pub operation: InstanceOperation,
    /// What.
    pub verb: InstanceVerb,
    /// To which session or key.
    pub subject: String,
    /// How many records were taken away or came back; of a value, one.
    pub count: usize,
    /// The operation that this one took back, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that took this one back, if any did.
    pub undone_by: Option<OperationId>,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstanceVerb {
    /// A value was replaced.
    Set,
    /// A value or a whole session was removed.
    Delete,
    /// Records of a session were removed.
    Purge,
    /// An operation was taken back.
    Undo,
}

impl InstanceVerb {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Set, Self::Delete, Self::Purge, Self::Undo];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Delete => "delete",
            Self::Purge => "purge",
            Self::Undo => "undo",
        }
    }
}

/// Says of each of `records`, which are newest first, which operation took it back. An undo that was itself taken back took nothing back.
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

/// The way back of one instance.
#[derive(Debug, Clone)]
pub struct KeptInstance {
    /// What it is called: `history/main`.
    pub name: String,
    /// What holds its sessions or values.
    pub store: Arc<dyn Operations>,
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceUndone {
    /// The operation that was taken back.
    pub record: InstanceRecord,
    /// The operation that took it back; taking back this one does the first again.
    pub undo: OperationId,
}

/// Returns the last `limit` of what was done, newest first.
///
/// # Errors
/// When that cannot be read.
pub fn operations(store: &dyn Operations, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    store.operations()?.take(limit).collect()
}

/// Takes back the operation whose name begins with `reference`, 4 digits of it or more, or the last one that was not taken back. Taking
/// back an undo does the operation again.
///
/// # Errors
/// As [`Operations::undo`]; [`StoreError::Ambiguous`] if more than one operation is called so.
pub fn undo(
    store: &dyn Operations,
    reference: Option<&str>,
    clock: &dyn Clock,
    ids: &dyn IdSource,
) -> Result<InstanceUndone, InstanceError> {
    let found = match reference {
        Some(reference) => named(store, reference)?,
        None => last(store)?,
    };
    let missing = || StoreError::OperationNotFound {
        wanted: match reference {
            Some(reference) => format!("no operation is called {reference}"),
            None => "there is no operation to take back".to_owned(),
        },
    };
    let found = found.ok_or_else(missing)?;
    let operation = InstanceOperation::new(clock, ids);
    let record = store.undo(&found.operation.id, &operation)?;
    Ok(InstanceUndone { record, undo: operation.id })
}

/// Returns the operation that would be taken back next, if there is one.
pub(crate) fn last(store: &dyn Operations) -> Result<Option<InstanceRecord>, InstanceError> {
    let is_open = |record: &InstanceRecord| record.verb != InstanceVerb::Undo && record.undone_by.is_none();
    store.operations()?.find(|record| record.as_ref().map_or(true, is_open)).transpose()
}

/// Returns the one operation whose name begins with `reference`, 4 digits of it or more, if there is one.
fn named(store: &dyn Operations, reference: &str) -> Result<Option<InstanceRecord>, InstanceError> {
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
