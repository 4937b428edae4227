//! The current time for comparisons with file times.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current system time, in nanoseconds since 1970.
///
/// It is compared only with the times of files, so the clock of a test must not replace it.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
