//! Keeping what asking a language model costs.

use std::fmt::Debug;

use chrono::NaiveDate;

use crate::{Budget, Purpose, Shortage, Spent, StoreError};

/// Keeps what asking a language model costs, per day and purpose.
///
/// Many of these may work on one place, in one process or in many; no count is lost, and nothing is set aside that a
/// budget does not allow.
pub trait Meter: Debug + Send + Sync {
    /// Sets something aside, if `budget` allows it beside all that was spent and set aside on that day for any purpose.
    /// Once this returns it counts as spent, and neither a crash nor a power cut takes it back.
    ///
    /// # Errors
    /// [`MeterError::Exhausted`] if the budget does not allow it; [`MeterError::Store`] if it cannot be kept. Nothing is
    /// set aside then.
    fn reserve(&self, reservation: &Reservation, budget: &Budget) -> Result<(), MeterError>;

    /// Replaces what was set aside by what it came to, on the same day and for the same purpose. May be done once for each
    /// reservation; until then, what was set aside counts as spent.
    ///
    /// # Errors
    /// When it cannot be kept; what was set aside still counts.
    fn settle(&self, reservation: &Reservation, spent: Spent) -> Result<(), StoreError>;

    /// Returns what was spent from one day to another, both included; in the order of days and purposes. What is set aside
    /// counts as spent.
    ///
    /// # Errors
    /// When it cannot be read.
    fn spending(&self, from: NaiveDate, to: NaiveDate) -> Result<Spending, StoreError>;
}

/// Something that is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The day whose budget it is taken from.
    pub day: NaiveDate,
    /// What it is for.
    pub purpose: Purpose,
    /// How much it is.
    pub amount: Spent,
}

/// What was spent in some days.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    /// What on which; one entry for each day and purpose.
    pub entries: Vec<SpentOn>,
    /// How many records could not be read. They count for nothing.
    pub unreadable: u64,
}

/// What was spent on one day for one purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentOn {
    /// The day.
    pub day: NaiveDate,
    /// The purpose.
    pub purpose: Purpose,
    /// How much.
    pub spent: Spent,
}

/// Why nothing was set aside.
#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    /// The budget does not allow it.
    #[error(transparent)]
    Exhausted(#[from] Shortage),
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}
