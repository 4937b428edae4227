//! A topic.

use chrono::NaiveDate;

use super::{TopicKind, TopicName};

/// A topic, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// What it is called: its file.
    pub name: TopicName,
    /// What people call it; that of the file without `.md` if it does not say.
    pub title: String,
    /// What it is about, in a line; that of the file without `.md` if it does not say.
    pub description: String,
    /// What kind of thing it is about.
    pub kind: TopicKind,
    /// The kind as the file says it, if it does.
    pub said_kind: Option<String>,
    /// The day on which it was last changed, as the file says it, if it does.
    pub updated: Option<NaiveDate>,
    /// The size of the file in bytes.
    pub size: u64,
    /// What is wrong with the file, if anything.
    pub problem: Option<String>,
    /// Whether the file could not be read at all, so that nothing is known of it but its name.
    pub is_unreadable: bool,
}
