//! Where a memory was taken in from.

use std::fmt;

use super::ContentHash;

/// The file or place a memory was taken in from. Taking in the same origin again updates the memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The source's name, such as `obsidian`.
    pub source: String,
    /// The folder or file that was taken in, as an absolute path.
    pub root: String,
    /// The path below `root`, with `/` between its parts; a part of a file follows after `#`.
    pub path: String,
    /// What tells the next time whether the source or its memory has changed since; only [`crate::ingest()`] can read it.
    pub hash: Option<ContentHash>,
}

impl Origin {
    /// Tells whether both name the same place, whatever was found there.
    pub fn is_same_place(&self, other: &Self) -> bool {
        (&self.source, &self.root, &self.path) == (&other.source, &other.root, &other.path)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}/{}", self.source, self.root, self.path)
    }
}
