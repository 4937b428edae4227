//! Where a memory stands between "just written" and "filed".

use std::fmt;
use std::str::FromStr;

use super::ParseError;

/// Where a memory stands between "just written" and "filed".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Newly written, awaiting classification; lives in `categories/inbox/`.
    Inbox,
    /// Filed in the folder of its category.
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
