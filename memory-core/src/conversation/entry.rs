//! The entries of a conversation.

use std::str::FromStr;

use chrono::{DateTime, Utc};

use super::ConversationId;
use crate::{ContentHash, MemoryId, ParseError};

/// The maximum size of the text of an entry, in bytes.
pub const MAX_CONTENT: usize = 15 * 1024 * 1024;

/// An entry of a conversation: a turn, a fact or a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationEntry {
    /// The id.
    pub id: EntryId,
    /// The conversation.
    pub conversation: ConversationId,
    /// The kind of entry.
    pub role: EntryRole,
    /// The text, without surrounding whitespace.
    pub content: String,
    /// The creation time, in microseconds.
    pub created_at: DateTime<Utc>,
    /// The turn from which this fact was extracted, if it is recorded.
    pub source_id: Option<EntryId>,
    /// The kind of summary, if this is one.
    pub summary_kind: Option<String>,
    /// The entry that replaced this one, if it was deleted for that reason.
    pub replaced_by: Option<EntryId>,
}

impl ConversationEntry {
    /// Returns an entry with only the required fields.
    pub fn new(
        id: EntryId,
        conversation: &ConversationId,
        role: EntryRole,
        content: &str,
        created_at: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            conversation: conversation.clone(),
            role,
            content: content.trim().to_owned(),
            created_at: truncate_to_micros(created_at),
            source_id: None,
            summary_kind: None,
            replaced_by: None,
        }
    }

    /// Returns whether this entry precedes `other` in the order by time, then by id.
    pub fn is_before(&self, other: &Self) -> bool {
        (self.created_at, &self.id) < (other.created_at, &other.id)
    }
}

fn truncate_to_micros(at: DateTime<Utc>) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(at.timestamp_micros()).unwrap_or(at)
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryRole {
    /// A fact.
    Memory,
    /// A turn of the user.
    User,
    /// A turn of the model.
    Assistant,
    /// A summary of the conversation so far.
    Summary,
}

impl EntryRole {
    /// Returns the name used in files and prompts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Summary => "summary",
        }
    }
}

impl_display!(EntryRole);

impl FromStr for EntryRole {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let all = [Self::Memory, Self::User, Self::Assistant, Self::Summary];
        let found = all.into_iter().find(|role| role.as_str() == text.trim());
        found.ok_or_else(|| ParseError::new(text, "a role (memory, user, assistant or summary)"))
    }
}

/// The source of search results from conversations.
///
/// A note may have the same source: see [`HomeSection`](crate::HomeSection).
pub const SOURCE: &str = "conversation";

/// The id of an entry: a UUID, or any file name component that another program chose.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(String);

/// The maximum size in bytes, which leaves room for a timestamp and an extension in a file name.
const LONGEST: usize = 216;

impl EntryId {
    /// Returns the id of the summary of a conversation.
    pub fn for_summary(conversation: &ConversationId) -> Self {
        Self(format!("{}__summary-summary", conversation.folder()))
    }
}

impl From<MemoryId> for EntryId {
    fn from(id: MemoryId) -> Self {
        Self(id.to_string())
    }
}

impl_text_type!(EntryId);

impl FromStr for EntryId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let trimmed = text.trim();
        let is_part = !trimmed.is_empty() && trimmed.len() <= LONGEST && !trimmed.starts_with('.');
        if !is_part
            || trimmed
                .chars()
                .any(|character| character.is_control() || matches!(character, '/' | '\\'))
        {
            return Err(ParseError::new(
                text,
                "the id of an entry (a part of a file's name)",
            ));
        }
        Ok(Self(trimmed.to_owned()))
    }
}

/// The vector of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryVector {
    /// The hash of the text.
    pub text: ContentHash,
    /// The vector, of length 1.
    pub vector: Vec<f32>,
}
