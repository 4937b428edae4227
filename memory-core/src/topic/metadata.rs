//! What the folder knows about a topic: its name, type and description.

use std::str::FromStr;

use chrono::NaiveDate;

use super::{TopicError, TopicName};

/// A topic, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The name, which is that of its file.
    pub name: TopicName,
    /// The title; the file name without `.md` if the file has no title.
    pub title: String,
    /// The description, on one line; the file name without `.md` if the file has no description.
    pub description: String,
    /// The type.
    pub kind: TopicKind,
    /// The type as written in the file, if present.
    pub said_kind: Option<String>,
    /// The day of the last change as written in the file, if present.
    pub updated: Option<NaiveDate>,
    /// The size of the file in bytes.
    pub size: u64,
    /// The defect of the file, if any.
    pub problem: Option<String>,
    /// Whether the file could not be read at all, so that only its name is available.
    pub is_unreadable: bool,
}

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
    pub const ALL: [Self; 5] = [
        Self::User,
        Self::Feedback,
        Self::Project,
        Self::Reference,
        Self::Other,
    ];

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

impl_display!(TopicKind);

impl FromStr for TopicKind {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let kind = Self::GIVEN.into_iter().find(|kind| kind.as_str() == text);
        kind.ok_or_else(|| TopicError::invalid_type(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_an_invalid_type_lists_the_valid_ones() {
        let hint = "secret".parse::<TopicKind>().unwrap_err().hint().unwrap();
        assert_eq!(
            hint,
            format!(
                "the types are {}",
                TopicKind::GIVEN.map(TopicKind::as_str).join(", ")
            )
        );
    }
}
