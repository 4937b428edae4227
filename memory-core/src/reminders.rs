//! Listing reminders.

use crate::{MemoryPage, ReminderQuery, Services, StoreError};

/// A filter for reminders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReminderFilter {
    /// Reminders that are not done.
    #[default]
    Open,
    /// Reminders that are due and not done.
    Due,
    /// All reminders.
    All,
}

/// Returns the first `limit` reminders that pass `filter`, ordered by due time.
///
/// # Errors
/// If the files cannot be read.
pub fn reminders(services: &Services, filter: ReminderFilter, limit: Option<usize>) -> Result<MemoryPage, StoreError> {
    services.store.refresh()?;
    let wanted = match filter {
        ReminderFilter::Open => ReminderQuery::Open,
        ReminderFilter::Due => ReminderQuery::Due(services.clock.now()),
        ReminderFilter::All => ReminderQuery::All,
    };
    services.store.reminders(wanted, None, limit)
}
