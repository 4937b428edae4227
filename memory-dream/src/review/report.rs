//! The result.

use chrono::TimeDelta;

use super::{Cluster, Contradiction, Orphan, StaleProject};

/// What was seen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    /// Memories that say different things of the same; those that are certain first, then the most likely.
    pub contradictions: Listed<Contradiction>,
    /// Memories that are about one thing, the largest groups first.
    pub clusters: Listed<Cluster>,
    /// Organized memories that nothing leads to or from and nobody has read, the oldest first.
    pub orphans: Listed<Orphan>,
    /// Projects of which nothing was written or read for long, those that rest longest first.
    pub stale: Listed<StaleProject>,
}

/// The first of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The first ones.
    pub first: Vec<T>,
    /// How many more there are.
    pub left_out: usize,
}

impl<T> Listed<T> {
    /// Keeps the first `most` of `all`.
    pub(super) fn of(mut all: Vec<T>, most: usize) -> Self {
        let left_out = all.len().saturating_sub(most);
        all.truncate(most);
        Self { first: all, left_out }
    }
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { first: Vec::new(), left_out: 0 }
    }
}

/// What a review goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A project of which nothing was written or read for this long is stale.
    pub patience: TimeDelta,
    /// Each list has at most so many entries.
    pub most: usize,
}

impl Default for Rules {
    /// 90 days, and 100 entries.
    fn default() -> Self {
        Self { patience: TimeDelta::days(90), most: 100 }
    }
}
