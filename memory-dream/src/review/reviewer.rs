//! Looking at many memories.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use chrono::{DateTime, Utc};
use memory_core::Memory;

use super::seen::Seen;
use super::{Listed, Review, Rules, clusters, contradictions, orphans, stale};

/// Looks at many memories, one after the other, and keeps some hundred bytes of each.
#[derive(Debug, Default)]
pub struct Reviewer {
    seen: Vec<Seen>,
    /// How a word is written, the same whoever wrote it first.
    names: HashMap<u64, Box<str>>,
}

impl Reviewer {
    /// Looks at a memory, which was read last at `accessed_at`, if that is known.
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
        self.seen.push(Seen::of(memory, accessed_at, &mut name));
    }

    /// Returns what was seen. Memories that are over at `now`, or superseded, only count as what others link to.
    pub fn finish(mut self, rules: &Rules, now: DateTime<Utc>) -> Review {
        self.seen.sort_by_key(|seen| seen.id);
        // Somebody who shows a memory twice means it once.
        self.seen.dedup_by_key(|seen| seen.id);
        let linked = orphans::linked(&self.seen);
        self.seen.retain(|seen| !seen.is_superseded && seen.ends_at.is_none_or(|end| now < end));
        let most = rules.most;
        Review {
            contradictions: contradictions::contradictions(&self.seen, most),
            clusters: Listed::of(clusters::clusters(&self.seen, &self.names), most),
            orphans: Listed::of(orphans::orphans(&self.seen, &linked), most),
            stale: Listed::of(stale::stale(&self.seen, rules.patience, now), most),
        }
    }
}

/// Returns what is seen when `memories` are looked at together, each with the moment it was read last, if that is known.
///
/// # Examples
/// ```
/// use chrono::{TimeDelta, Utc, DateTime};
/// use memory_core::{Draft, MemoryId};
/// use memory_dream::review::{Rules, review};
///
/// let spring = DateTime::UNIX_EPOCH;
/// let autumn = spring + TimeDelta::days(180);
/// let old = Draft::new("Anna lives in Berlin.").into_memory(MemoryId::of_path("a"), spring);
/// let new = Draft::new("Anna no longer lives in Berlin.").into_memory(MemoryId::of_path("b"), autumn);
/// let review = review([&old, &new].map(|memory| (memory, None)), &Rules::default(), autumn);
/// let supersession = review.contradictions.first[0].supersession().unwrap();
/// assert_eq!((supersession.of, supersession.superseded_by), (old.id, new.id));
/// assert_eq!(supersession.valid_until, autumn);
/// ```
pub fn review<'m>(
    memories: impl IntoIterator<Item = (&'m Memory, Option<DateTime<Utc>>)>,
    rules: &Rules,
    now: DateTime<Utc>,
) -> Review {
    let mut reviewer = Reviewer::default();
    for (memory, accessed_at) in memories {
        reviewer.add(memory, accessed_at);
    }
    reviewer.finish(rules, now)
}
