//! A memory to be written, and a partial update of a memory.

use chrono::{DateTime, Utc};

use super::{
    Category, ContentHash, Memory, MemoryId, Origin, Phase, Reminder, Scope, SpeakerRole, Tags,
};
use crate::earlier::states_otherwise;
use crate::standing::has_new_statement;

/// A memory to be written.
///
/// A category other than the inbox moves the memory to that category at once. With `phase` set to the inbox, the
/// category remains a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The text.
    pub content: String,
    /// The title, if any.
    pub title: Option<String>,
    /// Other names that wikilinks may use.
    pub aliases: Vec<String>,
    /// The category; `None` leaves it undecided.
    pub category: Option<Category>,
    /// The phase; `None` means organized if a category is set, and inbox otherwise.
    pub phase: Option<Phase>,
    /// The scope, which determines the readers.
    pub scope: Scope,
    /// The tags.
    pub tags: Tags,
    /// The program that supplied the draft.
    pub source: String,
    /// The role of its author, if available.
    pub role: Option<SpeakerRole>,
    /// The creation time; `None` means now.
    pub created_at: Option<DateTime<Utc>>,
    /// The time from which the memory is excluded from results.
    pub expires_at: Option<DateTime<Utc>>,
    /// The start of the validity of the content.
    pub valid_from: Option<DateTime<Utc>>,
    /// The end of the validity of the content.
    pub valid_until: Option<DateTime<Utc>>,
    /// Whether the memory is retained however old it is and however rarely it is read.
    pub pinned: bool,
    /// The reminder, if the memory is one.
    pub reminder: Option<Reminder>,
    /// The origin of an ingested memory.
    pub origin: Option<Origin>,
    /// The memories that this one supersedes.
    pub supersedes: Vec<MemoryId>,
}

impl Draft {
    /// Returns a draft of `content` with global scope and no other fields.
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
            supersedes: Vec::new(),
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// Sets the category, and moves the memory to it at once unless it is the inbox.
    #[must_use]
    pub fn category(mut self, category: Category) -> Self {
        self.category = Some(category);
        self
    }

    /// Sets the scope, which determines the readers.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the tags.
    #[must_use]
    pub fn tags<'t>(mut self, tags: impl IntoIterator<Item = &'t str>) -> Self {
        self.tags = tags.into_iter().collect();
        self
    }

    /// Sets the program that supplied the draft.
    #[must_use]
    pub fn source(mut self, source: &str) -> Self {
        source.clone_into(&mut self.source);
        self
    }

    /// Sets the role of the author.
    #[must_use]
    pub fn role(mut self, role: SpeakerRole) -> Self {
        self.role = Some(role);
        self
    }

    /// Exempts the memory from expiry by age.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }

    /// Returns the hash of the text.
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(&self.content)
    }

    /// Returns a hash of the parts that come from the source: text, title, aliases, tags, and `more`.
    pub fn fingerprint(&self, more: &str) -> ContentHash {
        let mut parts = vec![
            self.content.as_str(),
            self.title.as_deref().unwrap_or_default(),
            more,
        ];
        parts.extend(self.aliases.iter().map(String::as_str));
        parts.push("");
        parts.extend(self.tags.iter().map(String::as_str));
        ContentHash::of(&parts.join("\0"))
    }

    /// Converts the draft to version 1 of a memory with `id`.
    ///
    /// It is created at `now`, unless the draft has a creation time.
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
            stated_at: None,
            expires_at: self.expires_at,
            access_count: 0,
            links: Vec::new(),
            version: 1,
            title: self.title,
            aliases: self.aliases,
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            supersedes: self.supersedes,
            superseded_by: None,
            summarised_by: None,
            pinned: self.pinned,
            reminder: self.reminder,
            origin: self.origin,
            other_origins: Vec::new(),
            proposal: None,
        }
    }
}

impl From<&str> for Draft {
    fn from(content: &str) -> Self {
        Self::new(content)
    }
}

impl From<String> for Draft {
    fn from(content: String) -> Self {
        Self::new(&content)
    }
}

/// A partial update of a memory; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// The new text.
    pub content: Option<String>,
    /// The new title; `Some(None)` removes it.
    pub title: Option<Option<String>>,
    /// The new aliases.
    pub aliases: Option<Vec<String>>,
    /// The new category. It also moves the memory to that category, or back to the inbox.
    pub category: Option<Category>,
    /// The new scope.
    pub scope: Option<Scope>,
    /// Tags to add.
    pub add_tags: Tags,
    /// Tags to remove, after those of `add_tags` were added.
    pub remove_tags: Tags,
    /// The new source.
    pub source: Option<String>,
    /// The new role of the author; `Some(None)` removes it.
    pub role: Option<Option<SpeakerRole>>,
    /// The new expiry; `Some(None)` removes it.
    pub expires_at: Option<Option<DateTime<Utc>>>,
    /// Memories that this one supersedes from now on.
    pub supersedes: Vec<MemoryId>,
    /// The memory that supersedes this one; `Some(None)` removes it.
    pub superseded_by: Option<Option<MemoryId>>,
    /// Whether the memory is pinned.
    pub pinned: Option<bool>,
    /// The new reminder.
    pub reminder: Option<Reminder>,
    /// The new origin.
    pub origin: Option<Origin>,
    /// The new other origins.
    pub other_origins: Option<Vec<Origin>>,
    /// The time of the latest statement of the standing sentences.
    pub stated_at: Option<Option<DateTime<Utc>>>,
    /// The end of the period in which the content holds; `Some(None)` removes it.
    pub valid_until: Option<Option<DateTime<Utc>>>,
    /// Memories to link to.
    pub add_links: Vec<MemoryId>,
    /// Memories to unlink.
    pub remove_links: Vec<MemoryId>,
}

impl Patch {
    /// Returns `memory` with the patch applied, or `None` if nothing would change.
    ///
    /// The result has the next version number and is updated at `now`, or at the previous update if that is later.
    pub fn apply(&self, memory: &Memory, now: DateTime<Utc>) -> Option<Memory> {
        let mut patched = memory.clone();
        patched.tags = memory.tags.with(&self.add_tags).without(&self.remove_tags);
        for link in &self.add_links {
            if !patched.links.contains(link) {
                patched.links.push(*link);
            }
        }
        for older in &self.supersedes {
            if !patched.supersedes.contains(older) && *older != memory.id {
                patched.supersedes.push(*older);
            }
        }
        patched
            .links
            .retain(|link| !self.remove_links.contains(link) && *link != memory.id);
        set(&mut patched.content, self.content.as_ref());
        set(&mut patched.title, self.title.as_ref());
        set(&mut patched.aliases, self.aliases.as_ref());
        set(&mut patched.scope, self.scope.as_ref());
        set(&mut patched.source, self.source.as_ref());
        set(&mut patched.role, self.role.as_ref());
        set(&mut patched.other_origins, self.other_origins.as_ref());
        set(&mut patched.stated_at, self.stated_at.as_ref());
        set(&mut patched.expires_at, self.expires_at.as_ref());
        set(&mut patched.valid_until, self.valid_until.as_ref());
        set(&mut patched.superseded_by, self.superseded_by.as_ref());
        set(&mut patched.pinned, self.pinned.as_ref());
        patched.reminder = self.reminder.clone().or(patched.reminder);
        if let Some(origin) = &self.origin {
            patched.origin = Some(origin.clone());
        }
        if let Some(category) = self.category {
            patched.category = category;
            // The category of a proposal is a suggestion until a person accepts it.
            patched.phase = if category == Category::Inbox || patched.is_proposal() {
                Phase::Inbox
            } else {
                Phase::Organized
            };
        }
        if patched == *memory {
            return None;
        }
        let says_else =
            || has_new_statement(memory, &patched) || states_otherwise(memory, &patched);
        if patched.content != memory.content && says_else() {
            patched.stated_at = Some(now);
        }
        patched.version = memory.version.saturating_add(1);
        patched.updated_at = now.max(memory.updated_at);
        Some(patched)
    }
}

fn set<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}
