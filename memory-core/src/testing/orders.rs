//! Checks concurrent code under different thread schedules.

use shuttle::{check_pct, check_random};

/// The number of schedules of each kind.
const ORDERS: usize = 1_000;

/// Runs `claim` under random schedules, and under schedules that delay a thread at critical points.
///
/// Threads are switched at operations of `shuttle::sync` and `shuttle::thread`. Time does not pass, so that timeouts never expire.
///
/// # Panics
/// In the first schedule in which `claim` fails, with the data to replay it.
pub fn in_any_order(claim: fn()) {
    check_random(claim, ORDERS);
    check_pct(claim, ORDERS, 3);
}
