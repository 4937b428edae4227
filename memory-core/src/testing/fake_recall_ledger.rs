//! An in-memory recall ledger.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};

use super::fake_models::lock;
use crate::secret::Checked;
use crate::{Code, RecallFilter, RecallLedger, RecallRecord, StoreError, StoreResults};

/// An in-memory [`RecallLedger`] without a maximum size.
#[derive(Debug, Default)]
pub struct FakeRecallLedger {
    state: Mutex<FakeState>,
    is_broken: AtomicBool,
}

#[derive(Debug, Default)]
struct FakeState {
    records: Vec<RecallRecord>,
    since: Option<DateTime<Utc>>,
}

impl FakeRecallLedger {
    /// Makes all further calls fail.
    pub fn will_fail(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// Returns all records, in the order in which they were recorded.
    pub fn records(&self) -> Vec<RecallRecord> {
        lock(&self.state).records.clone()
    }

    fn check_broken(&self) -> Result<(), StoreError> {
        if !self.is_broken.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(StoreError::Backend {
            action: "write to the recall ledger".into(),
            code: Code::Io,
            source: "it is broken".into(),
        })
    }
}

impl RecallLedger for FakeRecallLedger {
    fn record(&self, recall: &Checked<RecallRecord>) -> Result<(), StoreError> {
        self.check_broken()?;
        let mut state = lock(&self.state);
        state.since.get_or_insert(recall.at);
        state.records.push(RecallRecord::clone(recall));
        Ok(())
    }

    fn recalls<'a>(&'a self, filter: &'a RecallFilter) -> StoreResults<'a, RecallRecord> {
        if let Err(error) = self.check_broken() {
            return Box::new(std::iter::once(Err(error)));
        }
        Box::new(
            self.records()
                .into_iter()
                .filter(|recall| filter.includes(recall))
                .map(Ok),
        )
    }

    fn complete_since(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.check_broken()?;
        Ok(lock(&self.state).since)
    }

    fn size(&self) -> Result<u64, StoreError> {
        self.check_broken()?;
        Ok(lock(&self.state)
            .records
            .iter()
            .map(|recall| size_of_val(recall) as u64)
            .sum())
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<u64, StoreError> {
        self.check_broken()?;
        let mut state = lock(&self.state);
        let count = state.records.len();
        state.records.retain(|recall| before <= recall.at);
        let deleted = (count - state.records.len()) as u64;
        if 0 < deleted {
            state.since = state.since.max(Some(before));
        }
        Ok(deleted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::recall_ledger_suite;

    #[test]
    fn it_fulfils_the_contract() {
        recall_ledger_suite(&|| Box::new(FakeRecallLedger::default()));
    }
}
