//! Which projects rest.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Category, MemoryId, Scope};

use super::seen::Seen;

/// A project of which nothing was written or read for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleProject {
    /// Who sees it: `project:<name>`, or a scope that has memories of the category project.
    pub scope: Scope,
    /// When something of it was written, changed or read last.
    pub last_at: DateTime<Utc>,
    /// How many memories it has.
    pub memories: usize,
    /// The memory that was touched last.
    pub latest: MemoryId,
    /// What to call that.
    pub headline: String,
}

/// A scope that is a project counts with all its memories, any other with those of the category project.
pub(super) fn stale(seen: &[Seen], patience: TimeDelta, now: DateTime<Utc>) -> Vec<StaleProject> {
    let mut projects: BTreeMap<&Scope, Vec<&Seen>> = BTreeMap::new();
    for own in seen {
        if matches!(own.scope, Scope::Project(_)) || own.category == Category::Project {
            projects.entry(&own.scope).or_default().push(own);
        }
    }
    let touched = |own: &Seen| own.updated_at.max(own.created_at).max(own.accessed_at.unwrap_or(own.created_at));
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
