//! The state of a server that has stopped responding.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The state of a server that may have stopped responding.
///
/// While it does not respond, one call tries it again after each pause, and all other calls fail immediately.
#[derive(Debug, Default)]
pub(super) struct CircuitBreaker {
    /// The time at which a call last found the server unresponsive, or started to try it again.
    tried: Mutex<Option<Instant>>,
}

impl CircuitBreaker {
    /// Returns whether a call may try the server at `now`: not less than `pause` after the last attempt.
    pub(super) fn allows_call(&self, now: Instant, pause: Duration) -> bool {
        let mut tried = self.lock();
        match *tried {
            Some(last) if now < last + pause => false,
            Some(_) => {
                *tried = Some(now);
                true
            }
            None => true,
        }
    }

    /// Records that the server did not respond.
    pub(super) fn record_failure(&self, now: Instant) {
        *self.lock() = Some(now);
    }

    /// Records that the server responded.
    pub(super) fn record_success(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_at_a_time_tries_a_silent_server_again() {
        let (silence, start) = (CircuitBreaker::default(), Instant::now());
        let second = Duration::from_secs(1);
        let admits = |seconds: u32| silence.allows_call(start + second * seconds, second * 5);
        assert!(admits(0) && admits(0));
        silence.record_failure(start);
        assert!(!admits(1) && !admits(4));
        assert!(admits(5), "one call tries it");
        assert!(!admits(5) && !admits(9), "the others fail meanwhile");
        silence.record_success();
        assert!(admits(9) && admits(9));
    }
}
