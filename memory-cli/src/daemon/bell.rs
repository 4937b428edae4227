//! Waking a thread that waits.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Wakes a thread that waits. A bell that was rung before somebody waits wakes them at once.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    /// Wakes whoever waits, now or next.
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_all();
    }

    /// Waits until the bell is rung, or until `until` if that is sooner; tells whether it was rung.
    pub(crate) fn wait(&self, until: Option<Instant>) -> bool {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            let Some(until) = until else {
                rung = self.heard.wait(rung).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            rung = self.heard.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut *rung)
    }
}
