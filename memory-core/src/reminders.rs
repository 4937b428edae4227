//! Listing reminders.

use crate::{Page, Reminders, Services, StoreError};

/// Which reminders are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReminderFilter {
    /// Those that are not done.
    #[default]
    Open,
    /// Those that are due and not done.
    Due,
    /// All.
    All,
}

/// Returns the first `limit` reminders that pass `filter`, what is due first before all others.
///
/// # Errors
/// When the files cannot be read.
pub fn reminders(services: &Services, filter: ReminderFilter, limit: Option<usize>) -> Result<Page, StoreError> {
    services.store.refresh()?;
    let wanted = match filter {
        ReminderFilter::Open => Reminders::Open,
        ReminderFilter::Due => Reminders::Due(services.clock.now()),
        ReminderFilter::All => Reminders::All,
    };
    services.store.reminders(wanted, None, limit)
}
