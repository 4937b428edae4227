//! Moments in JSON.

use chrono::{DateTime, SecondsFormat, Utc};

/// Writes a moment with as many digits as it needs, and no fewer.
pub(super) fn text(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
