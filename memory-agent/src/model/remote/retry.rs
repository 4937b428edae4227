//! The retry policy of remote requests.

use std::time::Duration;

/// The limits on attempts and on their total time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RetryPolicy {
    pub(super) tries: u32,
    pub(super) first_pause: Duration,
    pub(super) patience: Duration,
}

impl RetryPolicy {
    /// Returns the pause before the next attempt, or `None` if no attempt remains.
    ///
    /// `failed` is the number of failed attempts, `spent` the time since the first one, and `asked` the pause that the
    /// server requires. Each pause is twice the one before, and at least `asked`. The result is `None` if the pause
    /// would exceed the total time.
    pub(super) fn next_pause(&self, failed: u32, asked: Option<Duration>, spent: Duration) -> Option<Duration> {
        if self.tries <= failed {
            return None;
        }
        let doubled = 2_u32.checked_pow(failed.saturating_sub(1)).unwrap_or(u32::MAX);
        let pause = self.first_pause.saturating_mul(doubled).max(asked.unwrap_or_default());
        (spent.saturating_add(pause) < self.patience).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RETRY: RetryPolicy =
        RetryPolicy { tries: 4, first_pause: Duration::from_millis(500), patience: Duration::from_secs(10) };

    #[test]
    fn pauses_double_until_tries_or_patience_are_used_up() {
        let pause = |failed, spent| RETRY.next_pause(failed, None, Duration::from_millis(spent)).map(|pause| pause.as_millis());
        assert_eq!([pause(1, 0), pause(2, 600), pause(3, 2_000), pause(4, 5_000)], [Some(500), Some(1_000), Some(2_000), None]);
        assert_eq!(pause(1, 9_500), None, "no patience would be left");
    }

    #[test]
    fn the_server_may_ask_for_more_but_not_for_too_much() {
        let asked = |seconds| RETRY.next_pause(1, Some(Duration::from_secs(seconds)), Duration::ZERO);
        assert_eq!(asked(0), Some(Duration::from_millis(500)));
        assert_eq!(asked(3), Some(Duration::from_secs(3)));
        assert_eq!(asked(10), None);
        assert_eq!(asked(u64::MAX), None);
    }

    proptest! {
        #[test]
        fn patience_is_never_overdrawn(tries: u32, first_pause: Duration, patience: Duration, failed: u32, asked: Option<Duration>, spent: Duration) {
            if let Some(pause) = (RetryPolicy { tries, first_pause, patience }).next_pause(failed, asked, spent) {
                prop_assert!(spent + pause < patience && failed < tries);
            }
        }
    }
}
