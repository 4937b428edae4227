//! How often topics were used.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::topic::Topic;

/// How often which topic was used, by the name of its file.
pub type Uses = BTreeMap<String, Use>;

/// How often a topic was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// So many times.
    pub count: u64,
    /// The last time.
    pub last: DateTime<Utc>,
}

/// Returns topics, most used first; of those used as often the one used later, then the one changed later, then by name.
pub(super) fn most_used_first<'t>(topics: impl IntoIterator<Item = &'t Topic>, uses: &Uses) -> Vec<&'t Topic> {
    let mut topics: Vec<&Topic> = topics.into_iter().collect();
    topics.sort_by_cached_key(|topic| {
        let known = uses.get(topic.name.as_str()).map(|known| (known.count, known.last));
        (Reverse((known, topic.updated)), topic.name.clone())
    });
    topics
}
