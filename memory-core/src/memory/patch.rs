//! A partial update of a memory.

use chrono::{DateTime, Utc};

use super::{Category, Memory, MemoryId, Origin, Phase, Reminder, Scope, SpeakerRole, Tags};
use crate::standing::has_new_statement;

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
        patched.links.retain(|link| !self.remove_links.contains(link) && *link != memory.id);
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
        patched.reminder = self.reminder.or(patched.reminder);
        if let Some(origin) = &self.origin {
            patched.origin = Some(origin.clone());
        }
        if let Some(category) = self.category {
            patched.category = category;
            patched.phase = if category == Category::Inbox { Phase::Inbox } else { Phase::Organized };
        }
        if patched == *memory {
            return None;
        }
        if patched.content != memory.content && has_new_statement(memory, &patched) {
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
