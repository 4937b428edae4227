//! Finds inactive projects.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Category, MemoryId, Scope};

use super::reviewed_memory::ReviewedMemory;

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
pub(super) fn find_stale_projects(seen: &[ReviewedMemory], patience: TimeDelta, now: DateTime<Utc>) -> Vec<StaleProject> {
    let mut projects: BTreeMap<&Scope, Vec<&ReviewedMemory>> = BTreeMap::new();
    for own in seen {
        if matches!(own.scope, Scope::Project(_)) || own.category == Category::Project {
            projects.entry(&own.scope).or_default().push(own);
        }
    }
    let touched = |own: &ReviewedMemory| own.updated_at.max(own.created_at).max(own.accessed_at.unwrap_or(own.created_at));
    let mut found = Vec::new();
    for (scope, members) in projects {
        let Some(latest) = members.iter().max_by_key(|own| (touched(own), own.id)) else { continue };
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
