//! The way back.

use super::{BankError, BankRecord, BankScope, BankStore, BankVerb, Banks, ScopeChoice};
use crate::{OperationId, StoreError};
use std::collections::VecDeque;
use std::sync::Arc;

use chrono::{DateTime, Utc};

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankUndone {
    /// Whose bank it was.
    pub scope: BankScope,
    /// The operation that was taken back.
    pub record: BankRecord,
    /// The operation that took it back; taking back this one does the first again.
    pub undo: OperationId,
}

/// Returns what was done to all banks at hand, newest first.
///
/// # Errors
/// When that cannot be read.
pub fn history(banks: &Banks) -> Result<Vec<(BankScope, BankRecord)>, BankError> {
    let mut histories = Vec::new();
    for (scope, store) in banks.places(ScopeChoice::Detected) {
        histories.push(store.history()?.into_iter().map(move |record| (scope, record)).collect::<VecDeque<_>>());
    }
    let mut records = Vec::new();
    // What was done in one place stays in its order, whatever the clock said.
    while let Some(next) = histories.iter_mut().max_by_key(|history| history.front().map(|(_, record)| record.operation.at)) {
        let Some(record) = next.pop_front() else { break };
        records.push(record);
    }
    Ok(records)
}

/// Returns the last operation that can be taken back, if there is one.
///
/// # Errors
/// When what was done cannot be read.
pub fn last(banks: &Banks) -> Result<Option<BankRecord>, BankError> {
    let is_open = |record: &BankRecord| record.operation.verb != BankVerb::Undo && record.undone_by.is_none();
    Ok(history(banks)?.into_iter().map(|(_, record)| record).find(is_open))
}

/// Removes for good what was there before changes of long ago, by whole months that ended before `before`; returns how many files and bytes
/// that was.
///
/// # Errors
/// When it cannot be read or removed.
pub fn purge(banks: &Banks, before: DateTime<Utc>) -> Result<(u64, u64), BankError> {
    let (mut files, mut bytes) = (0, 0);
    for (_, store) in banks.places(ScopeChoice::Detected) {
        let (more_files, more_bytes) = store.purge(before)?;
        files += more_files;
        bytes += more_bytes;
    }
    Ok((files, bytes))
}

/// Takes back the operation on a bank whose id begins with `reference`, 4 digits of it or more. Taking back an undo does the operation
/// again.
///
/// # Errors
/// [`StoreError::OperationNotFound`] if there is none; [`super::Trouble::Conflict`] if what it left was changed since.
pub fn undo(banks: &Banks, reference: &str) -> Result<BankUndone, BankError> {
    let wanted = reference.trim().to_lowercase();
    let mut found: Option<(BankScope, &Arc<dyn BankStore>, OperationId)> = None;
    for (scope, store) in banks.places(ScopeChoice::Detected) {
        for record in store.history()? {
            if 4 <= wanted.len() && record.operation.id.as_str().starts_with(&wanted) {
                if found.as_ref().is_some_and(|(.., id)| *id != record.operation.id) {
                    let wanted = format!("{reference} is the beginning of more than one operation");
                    return Err(StoreError::OperationNotFound { wanted }.into());
                }
                found = Some((scope, store, record.operation.id));
            }
        }
    }
    let missing = || BankError::from(StoreError::OperationNotFound { wanted: format!("no operation is called {reference}") });
    let (scope, store, id) = found.ok_or_else(missing)?;
    let operation = banks.operation(BankVerb::Undo);
    let told = |error: BankError| BankError { scope: Some(scope), ..error };
    let record = store.undo(&id, &operation).map_err(told)?;
    Ok(BankUndone { scope, record, undo: operation.id })
}
