//! What somebody wants remembered, before it is a memory.

use chrono::{DateTime, Utc};

use super::{Category, ContentHash, Memory, MemoryId, Origin, Phase, Reminder, Scope, SpeakerRole, Tags};

/// What somebody wants remembered, before it is a memory.
///
/// A category other than the inbox files it at once; a draft that should wait in the inbox with its category as a
/// suggestion says so with `phase`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The text.
    pub content: String,
    /// A heading, if it has one.
    pub title: Option<String>,
    /// Other names that wikilinks may use.
    pub aliases: Vec<String>,
    /// What it is about; `None` leaves that open.
    pub category: Option<Category>,
    /// `None` means: organized if a category was given, else inbox.
    pub phase: Option<Phase>,
    /// Who may see it.
    pub scope: Scope,
    /// Labels.
    pub tags: Tags,
    /// The program it comes from.
    pub source: String,
    /// The role of its author, if known.
    pub role: Option<SpeakerRole>,
    /// When it was first written; `None` means now.
    pub created_at: Option<DateTime<Utc>>,
    /// From when on it is left out of answers.
    pub expires_at: Option<DateTime<Utc>>,
    /// From when on what it says holds.
    pub valid_from: Option<DateTime<Utc>>,
    /// Until when what it says holds.
    pub valid_until: Option<DateTime<Utc>>,
    /// Whether it stays, however old it is and however seldom it is read.
    pub pinned: bool,
    /// What makes it a reminder, if it is one.
    pub reminder: Option<Reminder>,
    /// Where it was taken in from.
    pub origin: Option<Origin>,
}

impl Draft {
    /// Returns a draft of `content` that everybody may see, with nothing else said.
    pub fn new(content: &str) -> Self {
        Self {
            content: content.to_owned(),
            title: None,
            aliases: Vec::new(),
            category: None,
            phase: None,
            scope: Scope::Global,
            tags: Tags::default(),
            source: String::new(),
            role: None,
            created_at: None,
            expires_at: None,
            valid_from: None,
            valid_until: None,
            pinned: false,
            reminder: None,
            origin: None,
        }
    }

    /// Returns the hash of the text.
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(&self.content)
    }

    /// Returns a hash of what the source says: text, title, aliases and tags, and `more`.
    pub fn fingerprint(&self, more: &str) -> ContentHash {
        let mut parts = vec![self.content.as_str(), self.title.as_deref().unwrap_or_default(), more];
        parts.extend(self.aliases.iter().map(String::as_str));
        parts.push("");
        parts.extend(self.tags.iter().map(String::as_str));
        ContentHash::of(&parts.join("\0"))
    }

    /// Makes the draft a memory, version 1, known as `id` from `now` on.
    pub fn into_memory(self, id: MemoryId, now: DateTime<Utc>) -> Memory {
        let category = self.category.unwrap_or(Category::Inbox);
        let phase = match self.phase {
            _ if category == Category::Inbox => Phase::Inbox,
            Some(phase) => phase,
            None => Phase::Organized,
        };
        let created_at = self.created_at.unwrap_or(now);
        Memory {
            id,
            content: self.content,
            phase,
            category,
            scope: self.scope,
            tags: self.tags,
            source: self.source,
            role: self.role,
            created_at,
            updated_at: now.max(created_at),
            expires_at: self.expires_at,
            access_count: 0,
            links: Vec::new(),
            version: 1,
            title: self.title,
            aliases: self.aliases,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            supersedes: Vec::new(),
            superseded_by: None,
            summarised_by: None,
            pinned: self.pinned,
            reminder: self.reminder,
            origin: self.origin,
            other_origins: Vec::new(),
        }
    }
}
