//! Waiting until a burst of news is over.

use std::time::Duration;

/// When nothing new has come for so long, a burst is over.
const QUIET: Duration = Duration::from_millis(200);

/// A burst that does not end is dealt with after so long all the same.
const LONGEST: Duration = Duration::from_secs(1);

/// Gathers news until they are worth a look. All times are since the same beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Debounce {
    burst: Option<(Duration, Duration)>,
}

impl Debounce {
    /// Takes note of news.
    pub fn hear(&mut self, at: Duration) {
        let (first, last) = self.burst.unwrap_or((at, at));
        self.burst = Some((first, last.max(at)));
    }

    /// Returns when to look at the news, if there are any: once the burst is over, and a second after it began at the latest.
    pub fn due(&self) -> Option<Duration> {
        self.burst.map(|(first, last)| (last + QUIET).min(first + LONGEST))
    }

    /// Tells whether to look at the news now; then they count as seen.
    pub fn take(&mut self, now: Duration) -> bool {
        let is_due = self.due().is_some_and(|due| due <= now);
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
        let mut debounce = Debounce::default();
        assert!(!debounce.take(ms(5000)));
        debounce.hear(ms(1000));
        debounce.hear(ms(1150));
        assert_eq!(debounce.due(), Some(ms(1350)));
        assert!(!debounce.take(ms(1300)) && debounce.take(ms(1350)) && !debounce.take(ms(9000)));
    }

    proptest! {
        #[test]
        fn no_news_wait_longer_than_a_second_and_none_is_forgotten(gaps in prop::collection::vec(0_u64..2000, 1..50)) {
            let (mut debounce, mut now, mut waiting) = (Debounce::default(), Duration::ZERO, None);
            for gap in gaps {
                let next = now + Duration::from_millis(gap);
                while let Some(due) = debounce.due().filter(|due| *due <= next) {
                    prop_assert!(debounce.take(due));
                    prop_assert!(due <= waiting.take().expect("somebody waits") + LONGEST);
                }
                now = next;
                debounce.hear(now);
                waiting.get_or_insert(now);
            }
            prop_assert!(debounce.due().is_some());
        }
    }
}
