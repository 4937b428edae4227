//! Whether a server has stopped answering.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Whether a server has stopped answering. While it has, one call after another tries it again, each some time after the last, and all
/// others fail at once.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// When a call last found the server silent, or began to try it again.
    tried: Mutex<Option<Instant>>,
}

impl Silence {
    /// Tells whether a call may try the server at `now`: not if it was silent less than `pause` before.
    pub(super) fn admits(&self, now: Instant, pause: Duration) -> bool {
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

    /// Notes that the server did not answer.
    pub(super) fn begin(&self, now: Instant) {
        *self.lock() = Some(now);
    }

    /// Notes that the server answered.
    pub(super) fn end(&self) {
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
        let (silence, start) = (Silence::default(), Instant::now());
        let second = Duration::from_secs(1);
        let admits = |seconds: u32| silence.admits(start + second * seconds, second * 5);
        assert!(admits(0) && admits(0));
        silence.begin(start);
        assert!(!admits(1) && !admits(4));
        assert!(admits(5), "one call tries it");
        assert!(!admits(5) && !admits(9), "the others fail meanwhile");
        silence.end();
        assert!(admits(9) && admits(9));
    }
}
