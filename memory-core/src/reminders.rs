//! Listing reminders.

use crate::{Page, Reminders, Services, StoreError};

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
pub fn reminders(services: &Services, filter: ReminderFilter, limit: Option<usize>) -> Result<Page, StoreError> {
    services.store.refresh()?;
    let wanted = match filter {
        ReminderFilter::Open => Reminders::Open,
        ReminderFilter::Due => Reminders::Due(services.clock.now()),
        ReminderFilter::All => Reminders::All,
    };
    services.store.reminders(wanted, None, limit)
}
