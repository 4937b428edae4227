//! What the daemon does.

use std::fmt;

use crate::Level;

/// Something that the daemon does. What is due at the same time is done in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Chore {
    /// Looks for files that other programs made, changed or deleted.
    Refresh,
    /// Shows reminders that are due.
    Notify,
    /// Lets go of what is over, and files what has proved itself.
    Lifecycle,
    /// Has the embedding model read what it has not read yet.
    Embed,
    /// Removes from the trash what has been there long enough.
    Purge,
    /// Moves changes into the full text.
    Flush,
    /// Dreams.
    Dream(Level),
}

impl Chore {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Refresh,
        Self::Notify,
        Self::Lifecycle,
        Self::Embed,
        Self::Purge,
        Self::Flush,
        Self::Dream(Level::Light),
        Self::Dream(Level::Medium),
        Self::Dream(Level::Deep),
    ];

    /// Returns the word for it, which files may hold: it never changes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refresh => "refresh",
            Self::Notify => "notify",
            Self::Lifecycle => "lifecycle",
            Self::Embed => "embed",
            Self::Purge => "purge",
            Self::Flush => "flush",
            Self::Dream(Level::Light) => "dream-1",
            Self::Dream(Level::Medium) => "dream-2",
            Self::Dream(Level::Deep) => "dream-3",
        }
    }

    /// Returns the chore that `word` stands for, if any does.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|chore| chore.as_str() == word)
    }
}

impl fmt::Display for Chore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
