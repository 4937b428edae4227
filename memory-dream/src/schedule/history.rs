//! The events before a schedule starts.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Chore;

/// The events before a schedule starts, as durations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScheduleHistory {
    /// The time since the last write; zero if there is no recorded write.
    pub idle: Duration,
    /// The time since each chore last ran; chores that never ran are absent.
    pub done: BTreeMap<Chore, Duration>,
}

impl ScheduleHistory {
    /// Computes the durations as of `now`.
    ///
    /// A time in the future, which a clock that was set back can cause, counts as `now`.
    pub fn new(now: DateTime<Utc>, last_write: Option<DateTime<Utc>>, done: &[(Chore, DateTime<Utc>)]) -> Self {
        let ago = |then: DateTime<Utc>| now.signed_duration_since(then).to_std().unwrap_or_default();
        let mut past = Self { idle: last_write.map_or(Duration::ZERO, ago), done: BTreeMap::new() };
        for (chore, then) in done {
            let ago = ago(*then);
            past.done.entry(*chore).and_modify(|known| *known = ago.min(*known)).or_insert(ago);
        }
        past
    }
}
