//! What a topic is about.

use std::fmt;
use std::str::FromStr;

use super::TopicError;

/// What a topic is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TopicKind {
    /// The person: their role, preferences, knowledge.
    User,
    /// What they corrected or confirmed.
    Feedback,
    /// Work that goes on, decisions, deadlines.
    Project,
    /// Where to find what lies elsewhere.
    Reference,
    /// Whatever a file says that is none of these, or says nothing.
    Other,
}

impl TopicKind {
    /// All of them, in the order of the index.
    pub const ALL: [Self; 5] = [Self::User, Self::Feedback, Self::Project, Self::Reference, Self::Other];

    /// Those that a topic may be given.
    pub const GIVEN: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
            Self::Other => "other",
        }
    }

    /// Returns its heading in the index.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::User => "## User",
            Self::Feedback => "## Feedback",
            Self::Project => "## Project",
            Self::Reference => "## Reference",
            Self::Other => "## Other",
        }
    }

    /// Returns what a file means that says `text`.
    pub fn of_file(text: &str) -> Self {
        text.parse().unwrap_or(Self::Other)
    }
}

impl fmt::Display for TopicKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for TopicKind {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let kind = Self::GIVEN.into_iter().find(|kind| kind.as_str() == text);
        kind.ok_or_else(|| TopicError::invalid_type(text))
    }
}
