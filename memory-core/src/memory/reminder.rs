//! What makes a memory a reminder.

use chrono::{DateTime, Utc};

use super::{Memory, MemoryId};

/// What makes a memory a reminder: when somebody is to be told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reminder {
    /// From when on.
    pub due: DateTime<Utc>,
    /// The memory it was made from, if it was; it goes where that one goes.
    pub of: Option<MemoryId>,
    /// When it was shown.
    pub notified_at: Option<DateTime<Utc>>,
    /// When it was done with.
    pub done_at: Option<DateTime<Utc>>,
}

impl Reminder {
    /// Returns a reminder of which nobody was told yet.
    pub fn at(due: DateTime<Utc>) -> Self {
        Self { due, of: None, notified_at: None, done_at: None }
    }

    /// Tells whether it is not done.
    pub fn is_open(&self) -> bool {
        self.done_at.is_none()
    }

    /// Tells whether it is due at `now`, and not done.
    pub fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.is_open() && self.due <= now
    }

    /// Tells whether somebody is to be told of it at `now`.
    pub fn is_to_be_shown(&self, now: DateTime<Utc>) -> bool {
        self.is_due(now) && self.notified_at.is_none()
    }
}

/// Which reminders are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reminders {
    /// All, also those that are done.
    All,
    /// Those that are not done.
    Open,
    /// Those that are due at this moment, and not done.
    Due(DateTime<Utc>),
    /// Those of which somebody is to be told at this moment.
    ToBeShown(DateTime<Utc>),
    /// Those that were made from this memory, also those that are done.
    Of(MemoryId),
}

impl Reminders {
    /// Tells whether `memory` is one of them.
    pub fn includes(&self, memory: &Memory) -> bool {
        memory.reminder.is_some_and(|reminder| match self {
            Self::All => true,
            Self::Open => reminder.is_open(),
            Self::Due(now) => reminder.is_due(*now),
            Self::ToBeShown(now) => reminder.is_to_be_shown(*now),
            Self::Of(id) => reminder.of == Some(*id),
        })
    }
}
