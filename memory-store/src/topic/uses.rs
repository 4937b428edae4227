//! The number of uses of topics.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::parse_rfc3339;
use memory_core::topic::{TopicName, TopicUsage, TopicUsages};
use serde::{Deserialize, Serialize};

use super::files::read_json;
use crate::disk::Disk;

/// The file of the numbers, which may be deleted at any time.
pub(super) const FILE: &str = ".uses.json";

#[derive(Debug, Default, Serialize, Deserialize)]
struct TopicUsesFile {
    topics: BTreeMap<String, TopicUseLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct TopicUseLine {
    count: u64,
    last: String,
}

/// Returns the number of uses and the last use of each topic; invalid entries are skipped.
pub(super) fn read_uses(disk: &dyn Disk) -> TopicUsages {
    let known = |(name, line): (String, TopicUseLine)| {
        let last = parse_rfc3339(&line.last)?;
        Some((
            name,
            TopicUsage {
                count: line.count,
                last,
            },
        ))
    };
    read_json::<TopicUsesFile>(disk, FILE)
        .topics
        .into_iter()
        .filter_map(known)
        .collect()
}

/// Counts a use. One of two concurrent counts may be lost, and a power loss may lose all.
pub(super) fn count(disk: &dyn Disk, name: &TopicName, at: DateTime<Utc>) {
    let mut page = read_json::<TopicUsesFile>(disk, FILE);
    let last = at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let count = page
        .topics
        .get(name.as_str())
        .map_or(0, |line| line.count)
        .saturating_add(1);
    page.topics
        .insert(name.to_string(), TopicUseLine { count, last });
    if let Ok(bytes) = serde_json::to_vec(&page) {
        let temporary = format!("{FILE}.{:08x}", getrandom::u32().unwrap_or_default());
        // A folder that is read-only can still be read.
        let written = disk
            .write(&temporary, &bytes)
            .and_then(|()| disk.rename(&temporary, FILE));
        if written.is_err() {
            let _ = disk.remove(&temporary);
        }
    }
}
