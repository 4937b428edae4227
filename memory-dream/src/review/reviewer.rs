//! Collects memories for a review.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::Memory;

use super::report::{
    Orphan, StaleProject, TruncatedList, find_orphans, find_stale_projects, linked_memories,
};
use super::reviewed_memory::ReviewedMemory;
use super::{Cluster, Contradiction, clusters, contradictions};

/// A collector of memories. It stores some hundred bytes for each, and those of up to 600 bytes of text as a whole.
#[derive(Debug, Default)]
pub struct Reviewer {
    seen: Vec<ReviewedMemory>,
    /// The written form of each word, independent of the order of the memories.
    names: HashMap<u64, Box<str>>,
}

impl Reviewer {
    /// Adds a memory that was last read at `accessed_at`; `None` if the time is unavailable.
    pub fn add(&mut self, memory: &Memory, accessed_at: Option<DateTime<Utc>>) {
        let names = &mut self.names;
        let mut name = |key: u64, written: &str| match names.entry(key) {
            Entry::Vacant(free) => {
                free.insert(written.to_lowercase().into());
            }
            Entry::Occupied(mut taken) => {
                let order = |name: &str| (name.len(), name.to_owned());
                if written.len() <= taken.get().len() {
                    let small = written.to_lowercase();
                    if order(&small) < order(taken.get()) {
                        taken.insert(small.into());
                    }
                }
            }
        };
        self.seen
            .push(ReviewedMemory::of(memory, accessed_at, &mut name));
    }

    /// Returns the review. Memories that are superseded or expired at `now` count only as sources of links.
    pub fn finish(mut self, rules: &ReviewRules, now: DateTime<Utc>) -> Review {
        self.seen.sort_by_key(|seen| seen.id);
        // A memory that was added twice counts once.
        self.seen.dedup_by_key(|seen| seen.id);
        let linked = linked_memories(&self.seen);
        self.seen
            .retain(|seen| !seen.is_superseded && seen.ends_at.is_none_or(|end| now < end));
        let most = rules.most;
        Review {
            contradictions: contradictions::find_contradictions(&self.seen, most),
            clusters: TruncatedList::of(clusters::find_clusters(&self.seen, &self.names), most),
            orphans: TruncatedList::of(find_orphans(&self.seen, &linked), most),
            stale: TruncatedList::of(find_stale_projects(&self.seen, rules.patience, now), most),
        }
    }
}

/// Reviews `memories`, each with the time of its last read, if available.
///
/// # Examples
/// ```
/// use chrono::{TimeDelta, Utc, DateTime};
/// use memory_core::{Draft, MemoryId};
/// use memory_dream::review::{ReviewRules, review_memories};
///
/// let spring = DateTime::UNIX_EPOCH;
/// let autumn = spring + TimeDelta::days(180);
/// let old = Draft::new("Anna lives in Berlin.").into_memory(MemoryId::for_path("a"), spring);
/// let new = Draft::new("Anna no longer lives in Berlin.").into_memory(MemoryId::for_path("b"), autumn);
/// let review = review_memories([&old, &new].map(|memory| (memory, None)), &ReviewRules::default(), autumn);
/// let supersession = review.contradictions.first[0].supersession().unwrap();
/// assert_eq!((supersession.of, supersession.superseded_by), (old.id, new.id));
/// assert_eq!(supersession.valid_until, autumn);
/// ```
pub fn review_memories<'m>(
    memories: impl IntoIterator<Item = (&'m Memory, Option<DateTime<Utc>>)>,
    rules: &ReviewRules,
    now: DateTime<Utc>,
) -> Review {
    let mut reviewer = Reviewer::default();
    for (memory, accessed_at) in memories {
        reviewer.add(memory, accessed_at);
    }
    reviewer.finish(rules, now)
}

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
        Self {
            patience: TimeDelta::days(90),
            most: 100,
        }
    }
}
