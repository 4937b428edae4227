//! The memory itself and the small types it is made of.

mod agent_name;
mod category;
mod content_hash;
mod draft;
mod id;
mod origin;
mod parse_error;
mod patch;
mod phase;
mod reminder;
mod scope;
mod speaker_role;
mod tags;

pub use agent_name::AgentName;
pub use category::Category;
pub use content_hash::{ContentHash, ContentHasher};
pub use draft::Draft;
pub use id::MemoryId;
pub use origin::Origin;
pub use parse_error::ParseError;
pub use patch::Patch;
pub use phase::Phase;
pub use reminder::{Reminder, Reminders};
pub use scope::Scope;
pub use speaker_role::SpeakerRole;
pub use tags::Tags;

use chrono::{DateTime, Utc};

use crate::OperationId;

/// One thing that is remembered.
///
/// A memory is a value: changing one means committing a changed copy, see [`crate::update()`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// What the memory is called by programs; people and links may use its file stem, title or aliases as well.
    pub id: MemoryId,
    /// The text, as Markdown. The last line break of the file is not part of it.
    pub content: String,
    /// Where it stands between "just written" and "filed".
    pub phase: Phase,
    /// What it is about. In the inbox this is a suggestion, once organized it is the folder.
    pub category: Category,
    /// Who may see it.
    pub scope: Scope,
    /// Labels, in the order they were given.
    pub tags: Tags,
    /// The program it came from, such as `claude` or `logseq`; empty when nobody said.
    pub source: String,
    /// The role of its author, if known. See [`Memory::speaker_role`].
    pub role: Option<SpeakerRole>,
    /// When it was first written.
    pub created_at: DateTime<Utc>,
    /// When its file was last changed by us.
    pub updated_at: DateTime<Utc>,
    /// From when on it is left out of answers, if ever.
    pub expires_at: Option<DateTime<Utc>>,
    /// How often it has been read.
    pub access_count: u64,
    /// Related memories, in the order they were linked. Links go both ways.
    pub links: Vec<MemoryId>,
    /// Counts the changes to it, from 1.
    pub version: u64,
    /// A heading for people, if it has one.
    pub title: Option<String>,
    /// Other names that wikilinks may use.
    pub aliases: Vec<String>,
    /// From when on what it says holds, if that was said.
    pub valid_from: Option<DateTime<Utc>>,
    /// Until when what it says holds, if that was said.
    pub valid_until: Option<DateTime<Utc>>,
    /// The memories whose place it took.
    pub supersedes: Vec<MemoryId>,
    /// The memory that took its place.
    pub superseded_by: Option<MemoryId>,
    /// The operation that put a summary in the place of its text; the whole text is in the trash under that name.
    pub summarised_by: Option<OperationId>,
    /// Whether it stays, however old it is and however seldom it is read.
    pub pinned: bool,
    /// What makes it a reminder, if it is one.
    pub reminder: Option<Reminder>,
    /// The file or place it was taken in from.
    pub origin: Option<Origin>,
    /// Other files that said the same when they were taken in; their `hash` is never set.
    pub other_origins: Vec<Origin>,
}

impl Memory {
    /// Returns the hash of the content, by which duplicates are known.
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(&self.content)
    }

    /// Returns the role of its author: `role`, or the role that `source` names if it belongs to a conversation.
    pub fn speaker_role(&self) -> Option<SpeakerRole> {
        let of_source = || SpeakerRole::of_source(&self.source).filter(|_| matches!(self.scope, Scope::Conversation(_)));
        self.role.or_else(of_source)
    }

    /// Tells whether it has expired, or what it says no longer holds, at `now`.
    pub fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.ends_at().is_some_and(|end| end <= now)
    }

    /// Returns the moment from which it is left out of answers: the earlier of `expires_at` and `valid_until`.
    pub fn ends_at(&self) -> Option<DateTime<Utc>> {
        match (self.expires_at, self.valid_until) {
            (Some(expires), Some(until)) => Some(expires.min(until)),
            (expires, until) => expires.or(until),
        }
    }

    /// Tells whether it stays in the inbox however long it is there: it is pinned, an open reminder, or taken in from a note.
    pub fn outlives_inbox_ttl(&self) -> bool {
        self.pinned || self.origin.is_some() || self.reminder.is_some_and(|reminder| reminder.is_open())
    }

    /// Returns what to call it in a list: its title, else the first line of its content that says something.
    pub fn headline(&self) -> &str {
        let first_line = || self.content.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        self.title.as_deref().filter(|title| !title.trim().is_empty()).or_else(first_line).unwrap_or_default()
    }
}
