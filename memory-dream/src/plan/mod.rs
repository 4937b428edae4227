//! What is to become of memories, as data.
//!
//! [`plan()`] decides, without changing anything, and [`Plan::check`] sees to it that every memory is accounted for.

mod check;
mod filings;
mod look;
mod merges;
mod partings;
mod planner;
mod remindings;

pub use check::Unaccounted;
pub use filings::DEFAULT_CATEGORY;
pub use planner::plan;

pub(crate) use look::{Looked, renewed};
pub(crate) use planner::decide;

use chrono::{DateTime, Utc};
use memory_core::{Category, ContentHash, MemoryId, Stamp};

use crate::lifecycle::{Fate, Spared};

/// What is to become of memories. What is not named stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// What leaves the inbox for a category.
    pub filings: Vec<Filing>,
    /// What stays in the inbox, because nothing says surely enough what it is about.
    pub unsure: Vec<Unsure>,
    /// What becomes one.
    pub merges: Vec<Merge>,
    /// What says the same and stays apart all the same, because of the notes that it was taken in from.
    pub alike: Vec<(MemoryId, MemoryId)>,
    /// What goes to trash because of its age.
    pub partings: Vec<Parting>,
    /// What stays though its time has come.
    pub spared: Vec<(MemoryId, Spared)>,
    /// How many files cannot be understood, and so are left alone.
    pub damaged: usize,
    /// What somebody is to be reminded of.
    pub reminders: Vec<Reminding>,
    /// Which reminders go to trash, since what they were made of names their time no longer.
    pub withdrawn: Vec<Withdrawal>,
    /// Which were listened to for that.
    pub heard: Vec<MemoryId>,
    /// Whose wikilinks are to be followed, and those that lead to them.
    pub followed: Vec<MemoryId>,
}

/// A memory that leaves the inbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Filing {
    /// The memory.
    pub id: MemoryId,
    /// The text that this was thought out for, see [`memory_core::embedded_text`].
    pub text: ContentHash,
    /// Where to.
    pub category: Category,
    /// Why there.
    pub why: Why,
}

/// Why a memory is filed where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// It says so itself.
    Suggested,
    /// What it says makes it so probable.
    Sure(f32),
    /// It was read so often.
    Read(u64),
    /// A language model says so.
    Asked,
}

/// A memory that stays in the inbox.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unsure {
    /// The memory.
    pub id: MemoryId,
    /// How probable the most probable category is.
    pub confidence: f32,
}

/// Memories that become one.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The one that is kept.
    pub kept: MemoryId,
    /// Those that go to trash.
    pub gone: Vec<MemoryId>,
    /// What those are called, see [`memory_core::Memory::headline`].
    pub headlines: Vec<String>,
    /// The texts that this was thought out for: that of the one that is kept, then those of the others.
    pub texts: Vec<ContentHash>,
    /// What is added to the text that is kept, paragraph by paragraph.
    pub added: Vec<String>,
}

/// A memory that goes to trash because of its age.
#[derive(Debug, Clone, PartialEq)]
pub struct Parting {
    /// The memory.
    pub id: MemoryId,
    /// The file that this was thought out for.
    pub stamp: Stamp,
    /// Why.
    pub fate: Fate,
    /// What it is called, see [`memory_core::Memory::headline`].
    pub headline: String,
}

/// A reminder that is made of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Reminding {
    /// The memory it is made of.
    pub of: MemoryId,
    /// The text that this was thought out for, see [`memory_core::embedded_text`].
    pub text: ContentHash,
    /// When it is due.
    pub at: DateTime<Utc>,
    /// What it says.
    pub said: String,
}

/// A reminder whose time is named no longer by the memory that it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Withdrawal {
    /// The reminder.
    pub id: MemoryId,
    /// The file that this was thought out for.
    pub stamp: Stamp,
    /// The memory it was made of.
    pub of: MemoryId,
    /// The text that this was thought out for, see [`memory_core::embedded_text`].
    pub text: ContentHash,
    /// When it was due.
    pub at: DateTime<Utc>,
    /// What it said.
    pub said: String,
}

impl Plan {
    /// Tells whether nothing is to change; what is only told, or to be followed, is no change.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many changes there are; what becomes one is one.
    pub fn len(&self) -> usize {
        self.filings.len() + self.merges.len() + self.partings.len() + self.reminders.len() + self.withdrawn.len()
    }
}
