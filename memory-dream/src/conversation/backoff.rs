//! Retry delays after failures of a language model.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{BudgetStatus, OperationId, RemainingBudget, add_time};

/// The state of a failing language model between two runs of [`super::process_with_backoff()`].
///
/// After a failed request there is a pause of one minute, which doubles after each further failure, up to an hour. Unreadable responses
/// have the same effect from the third failure in a row. Once the budget of the day is exhausted, there are no requests until it increases.
#[derive(Debug, Default)]
pub struct Backoff {
    /// Number of failures in a row.
    failures: u32,
    not_before: Option<DateTime<Utc>>,
    /// The remaining budget at the time when it did not suffice.
    used_up: Option<RemainingBudget>,
    /// The time of the latest turn in a conversation that was maintained although its jobs wait.
    pub(super) tended_until: Option<DateTime<Utc>>,
    /// The jobs with applied changes that wait for the summary.
    pub(super) committed: HashSet<OperationId>,
}

/// Number of failures in a row from which there is a pause.
const PAUSE_THRESHOLD: u32 = 3;

const MIN_PAUSE: TimeDelta = TimeDelta::minutes(1);
const MAX_PAUSE: TimeDelta = TimeDelta::hours(1);

impl Backoff {
    /// Returns whether a request may be made now.
    pub(super) fn may_request(&mut self, now: DateTime<Utc>, allowance: &BudgetStatus) -> bool {
        if let Some(before) = self.used_up {
            let is_more = |before: Option<u64>, now: Option<u64>| now.is_none() || before < now;
            if !is_more(before.calls, allowance.left.calls)
                && !is_more(before.tokens, allowance.left.tokens)
            {
                return false;
            }
            self.used_up = None;
        }
        // A clock that was set back must not extend the pause.
        self.not_before
            .is_none_or(|at| at <= now || MAX_PAUSE < at - now)
    }

    /// Returns whether the model failed several times in a row.
    pub(super) fn is_failing(&self) -> bool {
        PAUSE_THRESHOLD <= self.failures
    }

    /// Records a usable response.
    pub(super) fn record_success(&mut self) {
        self.failures = 0;
        self.not_before = None;
    }

    /// Records a request without a response.
    pub(super) fn record_no_answer(&mut self, now: DateTime<Utc>) {
        self.failures = self.failures.saturating_add(1).max(PAUSE_THRESHOLD);
        self.start_pause(now);
    }

    /// Records an unusable response.
    pub(super) fn record_unusable(&mut self, now: DateTime<Utc>) {
        self.failures = self.failures.saturating_add(1);
        if self.is_failing() {
            self.start_pause(now);
        }
    }

    /// Records that the budget did not suffice, with the remainder at that time.
    pub(super) fn record_exhausted(&mut self, left: RemainingBudget) {
        self.used_up = Some(left);
    }

    fn start_pause(&mut self, now: DateTime<Utc>) {
        let doublings = self.failures.saturating_sub(PAUSE_THRESHOLD).min(16);
        self.not_before = Some(add_time(
            now,
            (MIN_PAUSE * 2_i32.pow(doublings)).min(MAX_PAUSE),
        ));
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Budget;

    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes)
    }

    #[test]
    fn pauses_double_up_to_an_hour_and_end_with_an_answer() {
        let (mut backoff, mut now, mut pauses) = (Backoff::default(), 0, Vec::new());
        for _ in 0..9 {
            backoff.record_no_answer(at(now));
            let pause = (0..100_000)
                .find(|minutes| backoff.may_request(at(now + minutes), &BudgetStatus::default()))
                .unwrap();
            pauses.push(pause);
            now += pause;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert!(
            backoff.may_request(at(-1000), &BudgetStatus::default()),
            "a clock that was put back makes no pause longer"
        );
        backoff.record_success();
        assert!(backoff.may_request(at(now), &BudgetStatus::default()));
    }

    #[test]
    fn two_answers_that_cannot_be_read_cost_no_pause() {
        let mut backoff = Backoff::default();
        let may_ask: Vec<bool> = (0..3)
            .map(|_| {
                backoff.record_unusable(at(0));
                backoff.may_request(at(0), &BudgetStatus::default())
            })
            .collect();
        assert_eq!(may_ask, [true, true, false]);
    }

    #[test]
    fn a_budget_that_is_used_up_is_waited_for_until_there_is_more() {
        let allowance = |calls| {
            let left = RemainingBudget {
                calls: Some(calls),
                tokens: Some(100),
            };
            BudgetStatus {
                budget: Budget {
                    calls_a_day: Some(9),
                    tokens_a_day: Some(500),
                },
                left,
            }
        };
        let mut backoff = Backoff::default();
        backoff.record_exhausted(allowance(1).left);
        assert!(
            !backoff.may_request(at(60 * 23), &allowance(1))
                && !backoff.may_request(at(60 * 23), &allowance(0))
        );
        assert!(backoff.may_request(at(60 * 24), &allowance(9)));
        assert!(
            backoff.may_request(at(60 * 24), &allowance(0)),
            "the new day has its own end"
        );
    }
}
