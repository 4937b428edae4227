//! The chores of the daemon, their results and their cancellation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::DreamLevel;

/// A chore of the daemon. Chores that are due at the same time run in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Chore {
    /// Detects files that other programs created, changed or deleted.
    Refresh,
    /// Ingests the changes of watched sources.
    Ingest,
    /// Displays due reminders.
    Notify,
    /// Removes expired and decayed memories, and files those that are read often.
    Lifecycle,
    /// Computes missing embeddings.
    Embed,
    /// Deletes old entries of the trash.
    Purge,
    /// Writes pending changes to the full-text index.
    Flush,
    /// Runs a dream.
    Dream(DreamLevel),
}

impl Chore {
    /// All chores, in order.
    pub const ALL: [Self; 10] = [
        Self::Refresh,
        Self::Ingest,
        Self::Notify,
        Self::Lifecycle,
        Self::Embed,
        Self::Purge,
        Self::Flush,
        Self::Dream(DreamLevel::Light),
        Self::Dream(DreamLevel::Medium),
        Self::Dream(DreamLevel::Deep),
    ];

    /// Returns the identifier, which is stable because files contain it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refresh => "refresh",
            Self::Ingest => "ingest",
            Self::Notify => "notify",
            Self::Lifecycle => "lifecycle",
            Self::Embed => "embed",
            Self::Purge => "purge",
            Self::Flush => "flush",
            Self::Dream(DreamLevel::Light) => "dream-1",
            Self::Dream(DreamLevel::Medium) => "dream-2",
            Self::Dream(DreamLevel::Deep) => "dream-3",
        }
    }

    /// Parses an identifier; `None` if it is unknown.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|chore| chore.as_str() == word)
    }
}

impl fmt::Display for Chore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The result of a chore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoreStatus {
    /// There was no work.
    Nothing,
    /// A summary of the work, which contains counts and no content of memories.
    This(String),
    /// The chore was skipped, for this reason.
    LeftOut(String),
    /// Cancellation was requested before the work was complete.
    Stopped,
}

/// A shared flag that cancels long operations. An operation checks it between slices of about a second.
#[derive(Debug, Clone, Default)]
pub struct CancellationToken(Arc<AtomicBool>);

impl CancellationToken {
    /// Requests cancellation through all clones of this flag. A request cannot be withdrawn.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
