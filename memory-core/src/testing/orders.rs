//! Checks concurrent code under different thread schedules.

use shuttle::{check_pct, check_random};

use super::extent;

/// Runs `claim` under random schedules, and under schedules that delay a thread at critical points.
///
/// Threads are switched at operations of `shuttle::sync` and `shuttle::thread`. Time does not pass, so that timeouts never expire.
///
/// # Panics
/// In the first schedule in which `claim` fails, with the data to replay it.
pub fn in_any_order(claim: fn()) {
    let schedules = extent(250, 2_000);
    check_random(claim, schedules);
    check_pct(claim, schedules, 3);
}
