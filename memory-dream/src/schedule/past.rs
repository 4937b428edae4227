//! What happened before a schedule began.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::Chore;

/// What happened before a schedule began, as spans of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// How long nobody has written.
    pub idle: Duration,
    /// How long ago each chore that was ever done was done last.
    pub done: BTreeMap<Chore, Duration>,
}

impl Past {
    /// Returns what happened as seen from `now`. What seems to lie in the future, because the clock was set back, is taken to
    /// have happened just now.
    pub fn seen(now: DateTime<Utc>, last_write: Option<DateTime<Utc>>, done: &[(Chore, DateTime<Utc>)]) -> Self {
        let ago = |then: DateTime<Utc>| now.signed_duration_since(then).to_std().unwrap_or_default();
        let mut past = Self { idle: last_write.map_or(Duration::ZERO, ago), done: BTreeMap::new() };
        for (chore, then) in done {
            let ago = ago(*then);
            past.done.entry(*chore).and_modify(|known| *known = ago.min(*known)).or_insert(ago);
        }
        past
    }
}
