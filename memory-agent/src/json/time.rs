//! Formats times for JSON.

use chrono::{DateTime, SecondsFormat, Utc};

/// Formats a time with as many subsecond digits as it needs.
pub(super) fn rfc3339(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
