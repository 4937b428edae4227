//! An in-memory meter.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::NaiveDate;

use super::fake_models::lock;
use crate::{
    Budget, Code, LlmUsage, Meter, MeterError, Purpose, Reservation, Spending, SpendingEntry,
    StoreError,
};

/// An in-memory [`Meter`].
#[derive(Debug, Default)]
pub struct FakeMeter {
    spent: Mutex<BTreeMap<(NaiveDate, Purpose), LlmUsage>>,
    is_broken: AtomicBool,
}

impl FakeMeter {
    /// Makes all further calls fail.
    pub fn will_fail(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    fn check_broken(&self) -> Result<(), StoreError> {
        if !self.is_broken.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(StoreError::Backend {
            action: "write to the meter".into(),
            code: Code::Io,
            source: "it is broken".into(),
        })
    }
}

impl Meter for FakeMeter {
    fn reserve(&self, reservation: &Reservation, budget: &Budget) -> Result<(), MeterError> {
        self.check_broken()?;
        let Reservation {
            day,
            purpose,
            amount,
        } = reservation;
        let mut spent = lock(&self.spent);
        let that_day = spent
            .iter()
            .filter(|((on, _), _)| on == day)
            .fold(LlmUsage::default(), |sum, (_, spent)| sum + *spent);
        budget.check(that_day, *amount)?;
        let entry = spent.entry((*day, purpose.clone())).or_default();
        *entry = *entry + *amount;
        Ok(())
    }

    fn settle(&self, reservation: &Reservation, spent: LlmUsage) -> Result<(), StoreError> {
        self.check_broken()?;
        let Reservation {
            day,
            purpose,
            amount,
        } = reservation;
        let mut kept = lock(&self.spent);
        let entry = kept.entry((*day, purpose.clone())).or_default();
        let replaced =
            |sum: u64, amount: u64, spent: u64| sum.saturating_sub(amount).saturating_add(spent);
        entry.calls = replaced(entry.calls, amount.calls, spent.calls);
        entry.prompt_tokens = replaced(
            entry.prompt_tokens,
            amount.prompt_tokens,
            spent.prompt_tokens,
        );
        entry.answer_tokens = replaced(
            entry.answer_tokens,
            amount.answer_tokens,
            spent.answer_tokens,
        );
        Ok(())
    }

    fn spending(&self, from: NaiveDate, to: NaiveDate) -> Result<Spending, StoreError> {
        self.check_broken()?;
        let spent = lock(&self.spent);
        let entries = spent.iter().filter(|((day, _), spent)| {
            from <= *day && *day <= to && **spent != LlmUsage::default()
        });
        let entries = entries.map(|((day, purpose), spent)| SpendingEntry {
            day: *day,
            purpose: purpose.clone(),
            spent: *spent,
        });
        Ok(Spending {
            entries: entries.collect(),
            unreadable: 0,
        })
    }
}
