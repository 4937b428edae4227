//! Retry delays after failures of a language model.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::conversation::ConversationId;
use memory_core::{BudgetStatus, OperationId, RemainingBudget, add_time};

/// The state of a failing language model between two runs of [`super::process_jobs()`].
///
/// After a request without a response there is a pause of one minute, which doubles after each further failure, up to an hour. Unreadable
/// responses have the same effect on their conversation alone, from the third in a row. Once the budget of the day is exhausted, there are
/// no requests until it increases.
#[derive(Debug, Default)]
pub struct Backoff {
    /// The pause of all requests.
    all: Pause,
    /// The pauses of conversations.
    conversations: HashMap<ConversationId, Pause>,
    /// The remaining budget at the time when it did not suffice.
    used_up: Option<RemainingBudget>,
    /// The time of the latest turn in a conversation that was maintained although its jobs wait.
    pub(super) tended_until: Option<DateTime<Utc>>,
    /// The jobs with applied changes that wait for the summary.
    pub(super) committed: HashSet<OperationId>,
}

/// The pause after failures in a row.
#[derive(Debug, Default)]
struct Pause {
    failures: u32,
    not_before: Option<DateTime<Utc>>,
}

/// Number of failures in a row from which there is a pause.
const PAUSE_THRESHOLD: u32 = 3;

const MIN_PAUSE: TimeDelta = TimeDelta::minutes(1);
const MAX_PAUSE: TimeDelta = TimeDelta::hours(1);

impl Pause {
    fn is_over(&self, now: DateTime<Utc>) -> bool {
        // A clock that was set back must not extend the pause.
        self.not_before
            .is_none_or(|at| at <= now || MAX_PAUSE < at - now)
    }

    /// Counts a failure, and starts a pause from the third on.
    fn count_failure(&mut self, now: DateTime<Utc>) {
        self.failures = self.failures.saturating_add(1);
        if let Some(doublings) = self.failures.checked_sub(PAUSE_THRESHOLD) {
            let pause = MIN_PAUSE * 2_i32.pow(doublings.min(16));
            self.not_before = Some(add_time(now, pause.min(MAX_PAUSE)));
        }
    }
}

impl Backoff {
    /// Returns whether a request about `conversation` may be made now.
    pub(super) fn may_request(
        &mut self,
        conversation: &ConversationId,
        now: DateTime<Utc>,
        allowance: &BudgetStatus,
    ) -> bool {
        if let Some(before) = self.used_up {
            let is_more = |before: Option<u64>, now: Option<u64>| now.is_none() || before < now;
            if !is_more(before.calls, allowance.left.calls)
                && !is_more(before.tokens, allowance.left.tokens)
            {
                return false;
            }
            self.used_up = None;
        }
        let own = self.conversations.get(conversation);
        self.all.is_over(now) && own.is_none_or(|own| own.is_over(now))
    }

    /// Returns whether the model failed several times in a row.
    pub(super) fn is_failing(&self, conversation: &ConversationId) -> bool {
        let own = self.conversations.get(conversation);
        [Some(&self.all), own]
            .into_iter()
            .flatten()
            .any(|pause| PAUSE_THRESHOLD <= pause.failures)
    }

    /// Records a usable response.
    pub(super) fn record_success(&mut self, conversation: &ConversationId) {
        self.all = Pause::default();
        self.conversations.remove(conversation);
    }

    /// Records a request without a response.
    pub(super) fn record_no_answer(&mut self, now: DateTime<Utc>) {
        self.all.failures = self.all.failures.max(PAUSE_THRESHOLD - 1);
        self.all.count_failure(now);
    }

    /// Records an unusable response.
    pub(super) fn record_unusable(&mut self, conversation: &ConversationId, now: DateTime<Utc>) {
        self.conversations
            .entry(conversation.clone())
            .or_default()
            .count_failure(now);
    }

    /// Records that the budget did not suffice, with the remainder at that time.
    pub(super) fn record_exhausted(&mut self, left: RemainingBudget) {
        self.used_up = Some(left);
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Budget;

    use super::*;

    fn own() -> ConversationId {
        "own".parse().unwrap()
    }

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes)
    }

    #[test]
    fn pauses_double_up_to_an_hour_and_end_with_an_answer() {
        let (mut backoff, mut now, mut pauses) = (Backoff::default(), 0, Vec::new());
        for _ in 0..9 {
            backoff.record_no_answer(at(now));
            let pause = (0..100_000)
                .find(|minutes| {
                    backoff.may_request(&own(), at(now + minutes), &BudgetStatus::default())
                })
                .unwrap();
            pauses.push(pause);
            now += pause;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert!(
            backoff.may_request(&own(), at(-1000), &BudgetStatus::default()),
            "a clock that was put back makes no pause longer"
        );
        backoff.record_success(&own());
        assert!(backoff.may_request(&own(), at(now), &BudgetStatus::default()));
    }

    #[test]
    fn two_answers_that_cannot_be_read_cost_no_pause() {
        let mut backoff = Backoff::default();
        let may_ask: Vec<bool> = (0..3)
            .map(|_| {
                backoff.record_unusable(&own(), at(0));
                backoff.may_request(&own(), at(0), &BudgetStatus::default())
            })
            .collect();
        assert_eq!(may_ask, [true, true, false]);
        let other = "other".parse().unwrap();
        assert!(backoff.may_request(&other, at(0), &BudgetStatus::default()));
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
            !backoff.may_request(&own(), at(60 * 23), &allowance(1))
                && !backoff.may_request(&own(), at(60 * 23), &allowance(0))
        );
        assert!(backoff.may_request(&own(), at(60 * 24), &allowance(9)));
        assert!(
            backoff.may_request(&own(), at(60 * 24), &allowance(0)),
            "the new day has its own end"
        );
    }
}
