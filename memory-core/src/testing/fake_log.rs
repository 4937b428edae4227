//! The log of operations of all fakes.

use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Datelike, Months, NaiveTime, Utc};

use super::fake_models::lock;
use crate::{Operation, OperationId, Recorded, StoreError, mark_undone};

/// A recorded operation, with the state `T` before and after it.
pub(super) type FakeLogEntry<S, T> = (Recorded<S>, T, T);

/// A log of operations, oldest first.
#[derive(Debug)]
pub(super) struct FakeLog<S, T>(Mutex<Vec<FakeLogEntry<S, T>>>);

impl<S, T> Default for FakeLog<S, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: Clone, T: Clone> FakeLog<S, T> {
    /// Returns the entries, oldest first.
    pub(super) fn entries(&self) -> MutexGuard<'_, Vec<FakeLogEntry<S, T>>> {
        lock(&self.0)
    }

    pub(super) fn record(&self, operation: &Operation, subject: S, (before, after): (T, T)) {
        let record = Recorded::new(operation, subject, None);
        self.entries().push((record, before, after));
    }

    pub(super) fn record_undo(
        &self,
        undone: &Recorded<S>,
        operation: &Operation,
        (before, after): (T, T),
    ) {
        let undoes = Some(&undone.operation.id);
        let record = Recorded::new(operation, undone.subject.clone(), undoes);
        self.entries().push((record, before, after));
    }

    /// Returns the records, newest first.
    pub(super) fn records(&self) -> Vec<Recorded<S>> {
        let entries = self.entries();
        let mut records: Vec<_> = entries.iter().rev().map(|(own, ..)| own.clone()).collect();
        mark_undone(&mut records);
        records
    }

    /// Returns the parts of an operation that is not undone. There is at least one.
    pub(super) fn parts(
        &self,
        undone: &OperationId,
    ) -> Result<Vec<FakeLogEntry<S, T>>, StoreError> {
        let mut records = self.records().into_iter();
        let record = records.find(|record| record.operation.id == *undone);
        let record = record.ok_or_else(|| StoreError::OperationNotFound {
            wanted: format!("no operation has the id {undone}"),
        })?;
        if let Some(other) = &record.undone_by {
            return Err(StoreError::Invalid {
                why: format!("{undone} was already undone by {other}"),
            });
        }
        let mut parts = self.entries().clone();
        parts.retain(|(own, ..)| own.operation == record.operation);
        Ok(parts)
    }

    /// Returns the only part of an operation that is not undone.
    pub(super) fn open(&self, undone: &OperationId) -> Result<FakeLogEntry<S, T>, StoreError> {
        self.parts(undone).map(|mut parts| parts.remove(0))
    }

    /// Removes the operations of months that were over at the time `before`, and returns their number and size.
    pub(super) fn purge(&self, before: DateTime<Utc>) -> (u64, u64) {
        let is_old = |at: DateTime<Utc>| {
            let first = at.date_naive().with_day(1);
            first
                .and_then(|first| first.checked_add_months(Months::new(1)))
                .is_some_and(|next| next.and_time(NaiveTime::MIN).and_utc() <= before)
        };
        let mut entries = self.entries();
        let all = entries.len();
        entries.retain(|(record, ..)| !is_old(record.operation.at));
        ((all - entries.len()) as u64, 0)
    }
}
