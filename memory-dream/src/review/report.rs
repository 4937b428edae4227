//! The result of a review.

use chrono::TimeDelta;

use super::{Cluster, Contradiction, Orphan, StaleProject};

/// The result of a review.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    /// Contradicting memories: the certain pairs first, then those with the highest confidence.
    pub contradictions: TruncatedList<Contradiction>,
    /// Groups of memories about the same subject, the largest first.
    pub clusters: TruncatedList<Cluster>,
    /// Filed memories without links and reads, the oldest first.
    pub orphans: TruncatedList<Orphan>,
    /// Projects without recent changes and reads, the longest inactive first.
    pub stale: TruncatedList<StaleProject>,
}

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
        Self { first: all, left_out }
    }
}

impl<T> Default for TruncatedList<T> {
    fn default() -> Self {
        Self { first: Vec::new(), left_out: 0 }
    }
}

/// The settings of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewRules {
    /// A project without changes and reads for longer than this time is stale.
    pub patience: TimeDelta,
    /// Maximum number of entries of each list.
    pub most: usize,
}

impl Default for ReviewRules {
    /// Returns 90 days, and 100 entries.
    fn default() -> Self {
        Self { patience: TimeDelta::days(90), most: 100 }
    }
}
