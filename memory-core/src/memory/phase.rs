//! The phase of a memory between writing and classification.

use std::fmt;
use std::str::FromStr;

use super::ParseError;

/// The phase of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Newly written, awaiting classification; stored in `categories/inbox/`.
    Inbox,
    /// Stored in the folder of its category.
    Organized,
}

impl Phase {
    /// Returns the name used in files, on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Organized => "organized",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Phase {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        [Self::Inbox, Self::Organized]
            .into_iter()
            .find(|phase| phase.as_str().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| ParseError::new(text, "a phase (inbox or organized)"))
    }
}
