//! Undoes operations on banks.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::{BankError, BankRecord, BankScope, Banks, ScopeChoice};
use crate::{OperationId, Recorded, Verb, find_by_prefix};

/// The result of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankUndoReport {
    /// The scope of the bank.
    pub scope: BankScope,
    /// The operation that was undone.
    pub record: BankRecord,
    /// The id of the undo operation; undoing it restores the effect of the first operation.
    pub undo: OperationId,
}

/// Returns the operations on all available banks, newest first.
///
/// # Errors
/// If a log of operations cannot be read.
pub fn history(banks: &Banks) -> Result<Vec<(BankScope, BankRecord)>, BankError> {
    let mut histories = Vec::new();
    for (scope, store) in banks.stores(ScopeChoice::Detected) {
        histories.push(
            store
                .history()?
                .into_iter()
                .map(move |record| (scope, record))
                .collect::<VecDeque<_>>(),
        );
    }
    let mut records = Vec::new();
    // The operations of one folder stay in their own order, even where their clock values are not ascending.
    while let Some(next) = histories
        .iter_mut()
        .max_by_key(|history| history.front().map(|(_, record)| record.operation.at))
    {
        let Some(record) = next.pop_front() else {
            break;
        };
        records.push(record);
    }
    Ok(records)
}

/// Returns the last operation that can be undone, if there is one.
///
/// # Errors
/// If a log of operations cannot be read.
pub fn last(banks: &Banks) -> Result<Option<BankRecord>, BankError> {
    Ok(history(banks)?
        .into_iter()
        .map(|(_, record)| record)
        .find(Recorded::is_open))
}

/// Deletes the previous versions of changes in whole months that ended before `before`.
///
/// Returns the number of files and bytes deleted.
///
/// # Errors
/// If the versions cannot be read or deleted.
pub fn purge(banks: &Banks, before: DateTime<Utc>) -> Result<(u64, u64), BankError> {
    let (mut files, mut bytes) = (0, 0);
    for (_, store) in banks.stores(ScopeChoice::Detected) {
        let (more_files, more_bytes) = store.purge(before)?;
        files += more_files;
        bytes += more_bytes;
    }
    Ok((files, bytes))
}

/// Undoes the operation on a bank that `reference` identifies.
///
/// `reference` is a prefix of the operation id, at least 4 digits of it. Undoing an undo restores the effect of the first operation.
///
/// # Errors
/// Those of [`find_by_prefix()`]; [`super::BankErrorKind::ChangedSince`] if its result was changed afterwards.
pub fn undo(banks: &Banks, reference: &str) -> Result<BankUndoReport, BankError> {
    let mut records = Vec::new();
    // Of copies of a folder, the log lists the last one.
    for (scope, store) in banks.stores(ScopeChoice::Detected).into_iter().rev() {
        records.extend(
            store
                .history()?
                .into_iter()
                .map(|record| Ok::<_, BankError>(record.map(|_| (scope, store)))),
        );
    }
    let found = find_by_prefix(records, reference)?;
    let (scope, store) = found.subject;
    let operation = banks.operation(Verb::Undo);
    let in_scope = |error: BankError| BankError {
        scope: Some(scope),
        ..error
    };
    let record = store
        .undo(&found.operation.id, &operation)
        .map_err(in_scope)?;
    Ok(BankUndoReport {
        scope,
        record,
        undo: operation.id,
    })
}
