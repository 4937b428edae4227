//! What nobody needs.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use memory_core::MemoryId;

use super::seen::Seen;

/// An organized memory that nothing leads to or from and nobody has read or pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The memory.
    pub id: MemoryId,
    /// What to call it.
    pub headline: String,
    /// When it was first written.
    pub created_at: DateTime<Utc>,
}

/// Returns all that something leads to.
pub(super) fn linked(seen: &[Seen]) -> HashSet<MemoryId> {
    seen.iter().flat_map(|own| own.links.iter().chain(&own.supersedes).filter(|other| **other != own.id)).copied().collect()
}

pub(super) fn orphans(seen: &[Seen], linked: &HashSet<MemoryId>) -> Vec<Orphan> {
    let is_alone = |own: &&Seen| {
        let leads_on = own.links.iter().chain(&own.supersedes).any(|other| *other != own.id);
        let is_wanted = own.is_pinned || own.is_reminder;
        let is_read = 0 < own.access_count || own.accessed_at.is_some();
        own.is_organized && !is_wanted && !leads_on && !is_read && !linked.contains(&own.id)
    };
    let orphan = |own: &Seen| Orphan { id: own.id, headline: own.headline.clone(), created_at: own.created_at };
    let mut found: Vec<_> = seen.iter().filter(is_alone).map(orphan).collect();
    found.sort_by_key(|orphan| (orphan.created_at, orphan.id));
    found
}
