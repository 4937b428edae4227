//! The types of topics.

use std::fmt;
use std::str::FromStr;

use super::TopicError;

/// The type of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TopicKind {
    /// About the user: their role, preferences and knowledge.
    User,
    /// Corrections and confirmations by the user.
    Feedback,
    /// Ongoing work, decisions and deadlines.
    Project,
    /// Pointers to external resources.
    Reference,
    /// Files without a type or with an unrecognised one.
    Other,
}

impl TopicKind {
    /// All types, in the order of the index.
    pub const ALL: [Self; 5] = [Self::User, Self::Feedback, Self::Project, Self::Reference, Self::Other];

    /// The types that a write request accepts.
    pub const GIVEN: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// Returns the identifier of the type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
            Self::Other => "other",
        }
    }

    /// Returns the heading of the type in the index.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::User => "## User",
            Self::Feedback => "## Feedback",
            Self::Project => "## Project",
            Self::Reference => "## Reference",
            Self::Other => "## Other",
        }
    }

    /// Returns the type for the `type` value of a file; an unrecognised value becomes [`TopicKind::Other`].
    pub fn from_file_value(text: &str) -> Self {
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
