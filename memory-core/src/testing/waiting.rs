//! Waiting for other threads and processes.

use std::time::{Duration, Instant};

/// The longest time that a condition may take, on a machine that is busy with other tests.
const DEADLINE: Duration = Duration::from_mins(2);

/// The pause between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits until `condition` is true, which another thread or process makes true.
///
/// # Panics
/// If `condition` is false for two minutes, with `what` as the message.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        #[expect(
            clippy::disallowed_methods,
            reason = "a check without a pause takes a core from what it waits for"
        )]
        std::thread::sleep(PAUSE);
    }
}
