//! Combines bursts of events.

use std::time::Duration;

/// The time without events after which a burst ends.
const QUIET_TIME: Duration = Duration::from_millis(200);

/// Maximum delay after the first event of a burst.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// Combines bursts of events into one. All times are since a common start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventDebouncer {
    burst: Option<(Duration, Duration)>,
}

impl EventDebouncer {
    /// Records an event.
    pub fn record_event(&mut self, at: Duration) {
        let (first, last) = self.burst.unwrap_or((at, at));
        self.burst = Some((first, last.max(at)));
    }

    /// Returns when to process the burst, if there is one: at its end, or one second after its start.
    pub fn due_at(&self) -> Option<Duration> {
        self.burst
            .map(|(first, last)| (last + QUIET_TIME).min(first + MAX_DELAY))
    }

    /// Returns whether to process the burst now, and resets it if so.
    pub fn take_due(&mut self, now: Duration) -> bool {
        let is_due = self.due_at().is_some_and(|due| due <= now);
        if is_due {
            self.burst = None;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_burst_is_looked_at_once_it_is_over() {
        let ms = Duration::from_millis;
        let mut debounce = EventDebouncer::default();
        assert!(!debounce.take_due(ms(5000)));
        debounce.record_event(ms(1000));
        debounce.record_event(ms(1150));
        assert_eq!(debounce.due_at(), Some(ms(1350)));
        assert!(
            !debounce.take_due(ms(1300))
                && debounce.take_due(ms(1350))
                && !debounce.take_due(ms(9000))
        );
    }

    proptest! {
        #[test]
        fn no_news_wait_longer_than_a_second_and_none_is_forgotten(gaps in prop::collection::vec(0_u64..2000, 1..50)) {
            let (mut debounce, mut now, mut waiting) = (EventDebouncer::default(), Duration::ZERO, None);
            for gap in gaps {
                let next = now + Duration::from_millis(gap);
                while let Some(due) = debounce.due_at().filter(|due| *due <= next) {
                    prop_assert!(debounce.take_due(due));
                    prop_assert!(due <= waiting.take().expect("somebody waits") + MAX_DELAY);
                }
                now = next;
                debounce.record_event(now);
                waiting.get_or_insert(now);
            }
            prop_assert!(debounce.due_at().is_some());
        }
    }
}
