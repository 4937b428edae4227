//! An index and the usage counts that order it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::topic::Topic;

/// Usage counts by the file name of the topic.
pub type TopicUsages = BTreeMap<String, TopicUsage>;

/// The usage count of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopicUsage {
    /// Number of uses.
    pub count: u64,
    /// Time of the last use.
    pub last: DateTime<Utc>,
}

/// Returns topics sorted by usage count, then last use, then last change, all descending, then by name.
pub(super) fn most_used_first<'t>(
    topics: impl IntoIterator<Item = &'t Topic>,
    uses: &TopicUsages,
) -> Vec<&'t Topic> {
    let mut topics: Vec<&Topic> = topics.into_iter().collect();
    topics.sort_by_cached_key(|topic| {
        let known = uses
            .get(topic.name.as_str())
            .map(|known| (known.count, known.last));
        (Reverse((known, topic.updated)), topic.name.clone())
    });
    topics
}

/// An index: its text, and the lines that were generated. All other lines belong to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicIndex {
    /// The whole text.
    pub text: String,
    /// The generated lines, in order and without line breaks.
    ///
    /// A `\n` before or after one denotes a generated empty line.
    pub ours: Vec<String>,
}
