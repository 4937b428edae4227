//! One thing that is kept of a conversation.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use super::ConversationId;
use crate::{MemoryId, ParseError};

/// The longest text of an entry, in bytes.
pub const MAX_CONTENT: usize = 15 * 1024 * 1024;

/// One thing that is kept of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is called.
    pub id: EntryId,
    /// Where it belongs.
    pub conversation: ConversationId,
    /// What it is.
    pub role: EntryRole,
    /// The text, without blanks around it.
    pub content: String,
    /// When it was kept, to the microsecond.
    pub created_at: DateTime<Utc>,
    /// What was said of which this is a fact, if that is known.
    pub source_id: Option<EntryId>,
    /// Which kind of summary it is, if it is one.
    pub summary_kind: Option<String>,
    /// What took its place, if it was deleted because of that.
    pub replaced_by: Option<EntryId>,
}

impl Entry {
    /// Returns an entry with nothing said but what it must say.
    pub fn new(id: EntryId, conversation: &ConversationId, role: EntryRole, content: &str, created_at: DateTime<Utc>) -> Self {
        Self {
            id,
            conversation: conversation.clone(),
            role,
            content: content.trim().to_owned(),
            created_at: to_the_microsecond(created_at),
            source_id: None,
            summary_kind: None,
            replaced_by: None,
        }
    }

    /// Tells whether `other` is to come later where entries stand in their order: by time, then by id.
    pub fn is_before(&self, other: &Self) -> bool {
        (self.created_at, &self.id) < (other.created_at, &other.id)
    }
}

fn to_the_microsecond(at: DateTime<Utc>) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(at.timestamp_micros()).unwrap_or(at)
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryRole {
    /// A fact.
    Memory,
    /// Something the person said.
    User,
    /// Something the model said.
    Assistant,
    /// What the conversation was about so far.
    Summary,
}

impl EntryRole {
    /// Returns its name, as files and prompts spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Summary => "summary",
        }
    }
}

impl fmt::Display for EntryRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for EntryRole {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let all = [Self::Memory, Self::User, Self::Assistant, Self::Summary];
        let found = all.into_iter().find(|role| role.as_str() == text.trim());
        found.ok_or_else(|| ParseError::new(text, "a role (memory, user, assistant or summary)"))
    }
}

/// The source of what a search finds of a conversation. A note may say the same of itself: see [`Place`](crate::Place).
pub const SOURCE: &str = "conversation";

/// What an entry is called: a UUID for those we make, and whatever others made of it, as long as it can be a part of a file's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(String);

/// The longest, in bytes, so that a moment and an ending find room beside it in a file's name.
const LONGEST: usize = 216;

impl EntryId {
    /// Returns it as it is spelled.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what the summary of a conversation is called.
    pub fn of_summary(conversation: &ConversationId) -> Self {
        Self(format!("{}__summary-summary", conversation.folder()))
    }
}

impl From<MemoryId> for EntryId {
    fn from(id: MemoryId) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl FromStr for EntryId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let trimmed = text.trim();
        let is_part = !trimmed.is_empty() && trimmed.len() <= LONGEST && !trimmed.starts_with('.');
        if !is_part || trimmed.chars().any(|character| character.is_control() || matches!(character, '/' | '\\')) {
            return Err(ParseError::new(text, "the id of an entry (a part of a file's name)"));
        }
        Ok(Self(trimmed.to_owned()))
    }
}
