//! Notification of a waiting thread.

#[cfg(not(test))]
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

// In tests, shuttle explores the thread interleavings at each lock operation.
#[cfg(test)]
use shuttle::sync::{Condvar, Mutex, PoisonError};

/// A notification that is not lost: if it precedes the wait, the wait returns at once.
#[derive(Debug, Default)]
pub(crate) struct WakeSignal {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl WakeSignal {
    /// Wakes the waiting thread, or the next one to wait.
    pub(crate) fn notify(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_all();
    }

    /// Waits for a notification, at most until `until`; returns whether there was one.
    pub(crate) fn wait(&self, until: Option<Instant>) -> bool {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            let Some(until) = until else {
                rung = self
                    .heard
                    .wait(rung)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            rung = self
                .heard
                .wait_timeout(rung, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        std::mem::take(&mut *rung)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use memory_core::testing::in_any_order;
    use shuttle::sync::Arc;
    use shuttle::sync::atomic::{AtomicUsize, Ordering};
    use shuttle::thread;

    use super::*;

    #[test]
    fn whoever_waits_sees_all_that_was_done_before_the_bell_was_rung() {
        in_any_order(|| {
            let (bell, done) = (
                Arc::new(WakeSignal::default()),
                Arc::new(AtomicUsize::new(0)),
            );
            let rings: Vec<_> = (0..2)
                .map(|_| {
                    let (bell, done) = (Arc::clone(&bell), Arc::clone(&done));
                    thread::spawn(move || {
                        for _ in 0..2 {
                            done.fetch_add(1, Ordering::SeqCst);
                            bell.notify();
                        }
                    })
                })
                .collect();
            // A lost notification would block this loop forever.
            while done.load(Ordering::SeqCst) < 4 {
                assert!(bell.wait(None), "only a ring ends a wait without an end");
            }
            for ringer in rings {
                ringer.join().unwrap();
            }
        });
    }

    #[test]
    fn a_bell_that_was_rung_wakes_once_even_if_the_time_is_over() {
        in_any_order(|| {
            let bell = Arc::new(WakeSignal::default());
            let own = Arc::clone(&bell);
            let ringer = thread::spawn(move || own.notify());
            assert!(bell.wait(None));
            ringer.join().unwrap();
            let past = Instant::now().checked_sub(Duration::from_secs(1));
            assert!(
                past.is_some_and(|past| !bell.wait(Some(past))),
                "it was heard"
            );
            bell.notify();
            assert!(past.is_some_and(|past| bell.wait(Some(past))));
        });
    }
}
