//! What may be set about refinement.

use chrono::TimeDelta;
use memory_core::InboxTtl;

/// What may be set about refinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long a memory may wait in the inbox before it expires.
    pub inbox_ttl: InboxTtl,
    /// How old a filed memory may become that nobody reads.
    pub decay_after: TimeDelta,
    /// How often a memory in the inbox is read until it is filed for that alone.
    pub filing_accesses: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self { inbox_ttl: InboxTtl::default(), decay_after: TimeDelta::days(30), filing_accesses: 3 }
    }
}

/// A kind of refinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Task {
    /// What waited in the inbox for too long, or says when it expires, goes to trash.
    Expire,
    /// What nobody reads goes to trash.
    Decay,
    /// What is read often is filed.
    Upgrade,
    /// What is surely of one category is filed there.
    Classify,
    /// What says the same becomes one.
    Merge,
    /// Wikilinks are followed, and recorded at both ends.
    Link,
    /// Reminders are made of what asks for them.
    Remind,
    /// All memories are looked at together.
    Review,
    /// What is long is summarised, if there is a language model.
    Compress,
}

/// How deep a dream is. Each level does what the one before does, and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The inbox is sorted.
    Light = 1,
    /// What says the same becomes one, and wikilinks are followed.
    Medium = 2,
    /// All memories are compared with each other.
    Deep = 3,
}

impl Level {
    /// Returns the level with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Light, Self::Medium, Self::Deep].into_iter().find(|level| *level as u8 == number)
    }

    /// Returns what is done in a dream so deep.
    pub fn tasks(self) -> &'static [Task] {
        match self {
            Self::Light => &[Task::Classify],
            Self::Medium => &[Task::Classify, Task::Merge, Task::Link],
            Self::Deep => &[Task::Classify, Task::Merge, Task::Link, Task::Remind, Task::Review, Task::Compress],
        }
    }
}
