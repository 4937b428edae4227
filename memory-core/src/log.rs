//! What was done to notes and banks alike, and the way back.

use chrono::{DateTime, Utc};

use crate::bank::{self, BankError, BankRecord, BankScope, BankUndone, Banks, Trouble};
use crate::{OperationId, Record, Services, StoreError, Undone};

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logged {
    /// To notes.
    Notes(Record),
    /// To a bank.
    Bank(BankScope, BankRecord),
}

impl Logged {
    /// Returns its name.
    pub fn id(&self) -> &OperationId {
        match self {
            Self::Notes(record) => &record.id,
            Self::Bank(_, record) => &record.operation.id,
        }
    }

    /// Returns when it was done.
    pub fn at(&self) -> DateTime<Utc> {
        match self {
            Self::Notes(record) => record.at,
            Self::Bank(_, record) => record.operation.at,
        }
    }
}

/// Returns the last `limit` of what was done, newest first.
///
/// # Errors
/// When what was done cannot be read.
pub fn log(services: &Services, banks: &Banks, limit: usize) -> Result<Vec<Logged>, BankError> {
    let mut notes = services.history.records().peekable();
    let mut banks = bank::history(banks)?.into_iter().peekable();
    let mut logged = Vec::new();
    while logged.len() < limit {
        if let Some(unreadable) = notes.next_if(Result::is_err) {
            unreadable?;
        }
        let note_at = match notes.peek() {
            Some(Ok(record)) => Some(record.at),
            Some(Err(_)) | None => None,
        };
        let bank_at = banks.peek().map(|(_, record)| record.operation.at);
        // What was done in one place stays in its order, whatever the clock said.
        if bank_at < note_at {
            logged.extend(notes.next().transpose()?.map(Logged::Notes));
        } else if let Some((scope, record)) = banks.next() {
            logged.push(Logged::Bank(scope, record));
        } else {
            break;
        }
    }
    Ok(logged)
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenBack {
    /// Something that was done to notes.
    Notes(Undone),
    /// Something that was done to a bank.
    Bank(BankUndone),
}

/// Takes back the operation whose id begins with `reference`, or the last one that was not taken back, be it on notes or on a bank.
///
/// # Errors
/// As [`crate::undo()`] and [`bank::undo()`].
pub fn take_back(services: &Services, banks: &Banks, reference: Option<&str>) -> Result<TakenBack, BankError> {
    let Some(reference) = reference else {
        let last_of_banks = bank::last(banks)?;
        let last_of_notes = crate::undo::last_open(services)?;
        return match last_of_banks {
            Some(bank) if last_of_notes.is_none_or(|notes| notes.at <= bank.operation.at) => {
                bank::undo(banks, bank.operation.id.as_str()).map(TakenBack::Bank)
            }
            _ => Ok(TakenBack::Notes(crate::undo(services, None)?)),
        };
    };
    match crate::undo(services, Some(reference)) {
        Err(missing @ StoreError::OperationNotFound { .. }) => match bank::undo(banks, reference) {
            Err(BankError { trouble: Trouble::Store(error), .. }) if is_unknown(&error) => Err(missing.into()),
            done => done.map(TakenBack::Bank),
        },
        done => Ok(TakenBack::Notes(done?)),
    }
}

/// Tells whether nothing is called so, as against what was taken back already.
fn is_unknown(error: &StoreError) -> bool {
    matches!(error, StoreError::OperationNotFound { .. })
}
