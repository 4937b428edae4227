//! The time by which the index tells old from new.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the file system's idea of now, in nanoseconds since 1970.
///
/// It is compared with the times of files and with nothing else, so no clock of a test may stand in for it.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
