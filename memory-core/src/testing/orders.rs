//! Orders in which threads may have their turns.

use shuttle::{check_pct, check_random};

/// How many orders are tried, of each kind.
const ORDERS: usize = 1_000;

/// Has `claim` checked in orders by chance, and in those in which a thread is held up at the worst moments. Turns change hands where
/// threads use what is in `shuttle::sync` and `shuttle::thread`; time does not pass, so that nothing ever comes too late.
///
/// # Panics
/// In the first order in which it does not hold, with what does it again.
pub fn in_any_order(claim: fn()) {
    check_random(claim, ORDERS);
    check_pct(claim, ORDERS, 3);
}
