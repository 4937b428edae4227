//! The lists of a review: memories that nothing links to, and stale projects.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Category, MemoryId, Scope};

use super::reviewed_memory::ReviewedMemory;

/// The first entries of a list, with the number of omitted ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncatedList<T> {
    /// The first entries.
    pub first: Vec<T>,
    /// Number of omitted entries.
    pub left_out: usize,
}

impl<T> TruncatedList<T> {
    /// Creates a list of the first `most` entries of `all`.
    pub(super) fn of(mut all: Vec<T>, most: usize) -> Self {
        let left_out = all.len().saturating_sub(most);
        all.truncate(most);
        Self {
            first: all,
            left_out,
        }
    }
}

impl<T> Default for TruncatedList<T> {
    fn default() -> Self {
        Self {
            first: Vec::new(),
            left_out: 0,
        }
    }
}

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
    seen.iter()
        .flat_map(|own| {
            own.links
                .iter()
                .chain(&own.supersedes)
                .filter(|other| **other != own.id)
        })
        .copied()
        .collect()
}

pub(super) fn find_orphans(seen: &[ReviewedMemory], linked: &HashSet<MemoryId>) -> Vec<Orphan> {
    let is_alone = |own: &&ReviewedMemory| {
        let leads_on = own
            .links
            .iter()
            .chain(&own.supersedes)
            .any(|other| *other != own.id);
        let is_wanted = own.is_pinned || own.is_reminder;
        let is_read = 0 < own.access_count || own.accessed_at.is_some();
        own.is_organized && !is_wanted && !leads_on && !is_read && !linked.contains(&own.id)
    };
    let orphan = |own: &ReviewedMemory| Orphan {
        id: own.id,
        headline: own.headline.clone(),
        created_at: own.created_at,
    };
    let mut found: Vec<_> = seen.iter().filter(is_alone).map(orphan).collect();
    found.sort_by_key(|orphan| (orphan.created_at, orphan.id));
    found
}

/// A project without recent changes and reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleProject {
    /// The scope: `project:<name>`, or another scope that contains memories of the category project.
    pub scope: Scope,
    /// The time of the last write, change or read.
    pub last_at: DateTime<Utc>,
    /// Number of memories of the project.
    pub memories: usize,
    /// The memory that was written, changed or read last.
    pub latest: MemoryId,
    /// The headline of that memory.
    pub headline: String,
}

/// Returns the inactive projects.
///
/// A project scope includes all its memories, any other scope only those of the category project.
pub(super) fn find_stale_projects(
    seen: &[ReviewedMemory],
    patience: TimeDelta,
    now: DateTime<Utc>,
) -> Vec<StaleProject> {
    let mut projects: BTreeMap<&Scope, Vec<&ReviewedMemory>> = BTreeMap::new();
    for own in seen {
        if matches!(own.scope, Scope::Project(_)) || own.category == Category::Project {
            projects.entry(&own.scope).or_default().push(own);
        }
    }
    let touched = |own: &ReviewedMemory| {
        own.updated_at
            .max(own.created_at)
            .max(own.accessed_at.unwrap_or(own.created_at))
    };
    let mut found = Vec::new();
    for (scope, members) in projects {
        let Some(latest) = members.iter().max_by_key(|own| (touched(own), own.id)) else {
            continue;
        };
        let last_at = touched(latest);
        if patience < now.signed_duration_since(last_at) {
            found.push(StaleProject {
                scope: scope.clone(),
                last_at,
                memories: members.len(),
                latest: latest.id,
                headline: latest.headline.clone(),
            });
        }
    }
    found.sort_by(|one, other| (one.last_at, &one.scope).cmp(&(other.last_at, &other.scope)));
    found
}
