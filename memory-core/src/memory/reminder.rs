//! Reminders and their selection.

use chrono::{DateTime, Utc};

use super::{Memory, MemoryId};

/// The due time and state of a memory that is a reminder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reminder {
    /// The due time.
    pub due: DateTime<Utc>,
    /// The memory that it was made of, if any. The reminder moves to the trash with that memory.
    pub of: Option<MemoryId>,
    /// The time at which the notification was shown.
    pub notified_at: Option<DateTime<Utc>>,
    /// The time at which the reminder was completed.
    pub done_at: Option<DateTime<Utc>>,
}

impl Reminder {
    /// Returns an open reminder that was not shown yet.
    pub fn new(due: DateTime<Utc>) -> Self {
        Self { due, of: None, notified_at: None, done_at: None }
    }

    /// Returns whether the reminder is not completed.
    pub fn is_open(&self) -> bool {
        self.done_at.is_none()
    }

    /// Returns whether the reminder is open and due at `now`.
    pub fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.is_open() && self.due <= now
    }

    /// Returns whether the notification is to be shown at `now`.
    pub fn needs_notification(&self, now: DateTime<Utc>) -> bool {
        self.is_due(now) && self.notified_at.is_none()
    }
}

/// A selection of reminders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReminderQuery {
    /// All reminders, including completed ones.
    All,
    /// Open reminders.
    Open,
    /// Open reminders that are due at this time.
    Due(DateTime<Utc>),
    /// Reminders with a notification to show at this time.
    ToBeShown(DateTime<Utc>),
    /// Reminders that were made of this memory, including completed ones.
    Of(MemoryId),
}

impl ReminderQuery {
    /// Returns whether `memory` belongs to the selection.
    pub fn includes(&self, memory: &Memory) -> bool {
        memory.reminder.is_some_and(|reminder| match self {
            Self::All => true,
            Self::Open => reminder.is_open(),
            Self::Due(now) => reminder.is_due(*now),
            Self::ToBeShown(now) => reminder.needs_notification(*now),
            Self::Of(id) => reminder.of == Some(*id),
        })
    }
}
