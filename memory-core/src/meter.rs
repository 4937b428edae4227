//! The storage interface of language-model usage.

use std::fmt::Debug;

use chrono::NaiveDate;

use crate::{Budget, BudgetExceeded, LlmUsage, Purpose, StoreError};

/// A record of language-model usage per day and purpose.
///
/// Any number of meters may share one store, in one or more processes. No count is lost, and no reservation exceeds the
/// budget.
pub trait Meter: Debug + Send + Sync {
    /// Reserves usage if `budget` allows it.
    ///
    /// The budget covers all usage and reservations of that day for any purpose. Once the call returns, the reservation
    /// counts as used and survives a crash and a power loss.
    ///
    /// # Errors
    /// [`MeterError::Exhausted`] if the budget does not allow it, or [`MeterError::Store`] if it cannot be written.
    /// Then nothing is reserved.
    fn reserve(&self, reservation: &Reservation, budget: &Budget) -> Result<(), MeterError>;

    /// Replaces a reservation by the actual usage, on the same day and for the same purpose.
    ///
    /// May be called once for each reservation. Until then, the reservation counts as used.
    ///
    /// # Errors
    /// If the usage cannot be written. The reservation then still counts.
    fn settle(&self, reservation: &Reservation, spent: LlmUsage) -> Result<(), StoreError>;

    /// Returns the usage of the days `from` to `to`, both inclusive, ordered by day and purpose.
    ///
    /// Open reservations count as used.
    ///
    /// # Errors
    /// If the usage cannot be read.
    fn spending(&self, from: NaiveDate, to: NaiveDate) -> Result<Spending, StoreError>;
}

/// A reservation of usage before a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The day of the budget to charge.
    pub day: NaiveDate,
    /// The purpose of the call.
    pub purpose: Purpose,
    /// The reserved amount.
    pub amount: LlmUsage,
}

/// The usage of a range of days.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    /// The usage by day and purpose, one entry for each.
    pub entries: Vec<SpendingEntry>,
    /// Number of records that could not be read. Their usage is not counted.
    pub unreadable: u64,
}

/// The usage of one day for one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingEntry {
    /// The day.
    pub day: NaiveDate,
    /// The purpose.
    pub purpose: Purpose,
    /// The amount.
    pub spent: LlmUsage,
}

/// The error that nothing was reserved.
#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    /// The budget does not allow it.
    #[error(transparent)]
    Exhausted(#[from] BudgetExceeded),
    /// The reservation cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
