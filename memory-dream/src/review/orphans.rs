//! Finds memories without links and reads.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use memory_core::MemoryId;

use super::reviewed_memory::ReviewedMemory;

/// A filed memory without links in either direction that was never read and is not pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The memory.
    pub id: MemoryId,
    /// The headline of the memory.
    pub headline: String,
    /// The creation time of the memory.
    pub created_at: DateTime<Utc>,
}

/// Returns all memories that another one links to or supersedes.
pub(super) fn linked_memories(seen: &[ReviewedMemory]) -> HashSet<MemoryId> {
    seen.iter().flat_map(|own| own.links.iter().chain(&own.supersedes).filter(|other| **other != own.id)).copied().collect()
}

pub(super) fn find_orphans(seen: &[ReviewedMemory], linked: &HashSet<MemoryId>) -> Vec<Orphan> {
    let is_alone = |own: &&ReviewedMemory| {
        let leads_on = own.links.iter().chain(&own.supersedes).any(|other| *other != own.id);
        let is_wanted = own.is_pinned || own.is_reminder;
        let is_read = 0 < own.access_count || own.accessed_at.is_some();
        own.is_organized && !is_wanted && !leads_on && !is_read && !linked.contains(&own.id)
    };
    let orphan = |own: &ReviewedMemory| Orphan { id: own.id, headline: own.headline.clone(), created_at: own.created_at };
    let mut found: Vec<_> = seen.iter().filter(is_alone).map(orphan).collect();
    found.sort_by_key(|orphan| (orphan.created_at, orphan.id));
    found
}
