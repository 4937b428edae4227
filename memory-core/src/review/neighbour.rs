//! Memories that a person should see beside an item of the inbox.

use crate::MemoryId;

/// A memory that a person should see beside an item of the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// The relation of the memory to the item.
    pub relation: NeighbourRelation,
    /// The memory.
    pub id: MemoryId,
    /// Its text.
    pub text: String,
}

/// The relation of a memory to an item of the inbox, the most important one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeighbourRelation {
    /// Both cannot hold.
    Contradiction,
    /// Both state the same.
    Duplicate,
    /// Both share most words.
    Similar,
}

impl NeighbourRelation {
    /// Returns the name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::Duplicate => "duplicate",
            Self::Similar => "similar",
        }
    }
}
