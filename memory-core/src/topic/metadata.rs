//! The metadata of a topic.

use chrono::NaiveDate;

use super::{TopicKind, TopicName};

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
