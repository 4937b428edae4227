//! The daily budget for language-model calls.

use std::fmt;
use std::ops::Add;

use crate::TokenUsage;

/// The daily limits for language-model calls; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of calls per day.
    pub calls_a_day: Option<u64>,
    /// Maximum number of tokens per day, prompts and responses together.
    pub tokens_a_day: Option<u64>,
}

/// The amount of language-model usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LlmUsage {
    /// Number of calls.
    pub calls: u64,
    /// Number of prompt tokens.
    pub prompt_tokens: u64,
    /// Number of response tokens.
    pub answer_tokens: u64,
}

/// The remaining part of a [`Budget`]; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemainingBudget {
    /// Number of remaining calls.
    pub calls: Option<u64>,
    /// Number of remaining tokens.
    pub tokens: Option<u64>,
}

/// The budget of a day and its remaining part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetStatus {
    /// The budget.
    pub budget: Budget,
    /// The remaining part.
    pub left: RemainingBudget,
}

/// The quantity that a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetLimit {
    /// The number of calls.
    Calls,
    /// The number of tokens.
    Tokens,
}

/// The error that the remaining budget of the day is too small for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "daily budget of {a_day} {limit} exhausted: the call needs up to {wanted}, {left} are left"
)]
#[non_exhaustive]
pub struct BudgetExceeded {
    /// The quantity that is insufficient.
    pub limit: BudgetLimit,
    /// The daily limit of that quantity.
    pub a_day: u64,
    /// The remaining amount.
    pub left: u64,
    /// The required amount.
    pub wanted: u64,
}

impl Budget {
    /// Checks that the budget allows `more` on a day that already used `spent`.
    ///
    /// Usage up to exactly the limit is allowed.
    ///
    /// # Errors
    /// The insufficient quantity. If both are insufficient, it is the calls.
    pub fn check(&self, spent: LlmUsage, more: LlmUsage) -> Result<(), BudgetExceeded> {
        let left = self.remaining(spent);
        check_limit(BudgetLimit::Calls, self.calls_a_day, left.calls, more.calls)?;
        check_limit(
            BudgetLimit::Tokens,
            self.tokens_a_day,
            left.tokens,
            more.total_tokens(),
        )
    }

    /// Returns the remaining budget on a day that already used `spent`.
    pub fn remaining(&self, spent: LlmUsage) -> RemainingBudget {
        RemainingBudget {
            calls: self
                .calls_a_day
                .map(|calls| calls.saturating_sub(spent.calls)),
            tokens: self
                .tokens_a_day
                .map(|tokens| tokens.saturating_sub(spent.total_tokens())),
        }
    }
}

impl BudgetStatus {
    /// Returns the remaining share of the day's budget, from 0 to 1.
    ///
    /// It is the smaller of the shares of calls and of tokens, and 1 without a limit. A limit of 0 counts as 0.
    pub fn remaining_share(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a share need not be exact")]
        let share = |a_day: Option<u64>, left: Option<u64>| match (a_day, left) {
            (Some(0), _) => 0.0,
            (Some(a_day), Some(left)) => (left as f64 / a_day as f64).min(1.0),
            _ => 1.0,
        };
        share(self.budget.calls_a_day, self.left.calls)
            .min(share(self.budget.tokens_a_day, self.left.tokens))
    }
}

fn check_limit(
    limit: BudgetLimit,
    a_day: Option<u64>,
    left: Option<u64>,
    wanted: u64,
) -> Result<(), BudgetExceeded> {
    match (a_day, left) {
        (Some(a_day), Some(left)) if left < wanted => Err(BudgetExceeded {
            limit,
            a_day,
            left,
            wanted,
        }),
        _ => Ok(()),
    }
}

impl LlmUsage {
    /// Returns the usage of one call that takes `tokens`.
    pub fn from_call(tokens: TokenUsage) -> Self {
        Self {
            calls: 1,
            prompt_tokens: tokens.prompt,
            answer_tokens: tokens.answer,
        }
    }

    /// Returns the sum of prompt and response tokens.
    pub fn total_tokens(self) -> u64 {
        self.prompt_tokens.saturating_add(self.answer_tokens)
    }
}

impl Add for LlmUsage {
    type Output = Self;

    /// Adds both usages; a sum that overflows saturates.
    fn add(self, more: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(more.calls),
            prompt_tokens: self.prompt_tokens.saturating_add(more.prompt_tokens),
            answer_tokens: self.answer_tokens.saturating_add(more.answer_tokens),
        }
    }
}

impl BudgetExceeded {
    /// Returns advice for the user.
    pub fn hint(&self) -> String {
        let key = match self.limit {
            BudgetLimit::Calls => "llm.calls_a_day",
            BudgetLimit::Tokens => "llm.tokens_a_day",
        };
        format!(
            "wait until tomorrow, or raise {key} in config.yaml; `memory usage` shows the usage"
        )
    }
}

impl fmt::Display for BudgetLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Calls => "calls",
            Self::Tokens => "tokens",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_USAGE: LlmUsage = LlmUsage {
        calls: 0,
        prompt_tokens: 0,
        answer_tokens: 0,
    };

    #[test]
    fn a_budget_is_spent_to_the_last_token_and_no_further() {
        let budget = Budget {
            calls_a_day: Some(2),
            tokens_a_day: Some(100),
        };
        let one = |prompt, answer| LlmUsage {
            calls: 1,
            prompt_tokens: prompt,
            answer_tokens: answer,
        };
        assert_eq!(budget.check(one(30, 20), one(25, 25)), Ok(()));
        let shortage = BudgetExceeded {
            limit: BudgetLimit::Tokens,
            a_day: 100,
            left: 50,
            wanted: 51,
        };
        assert_eq!(budget.check(one(30, 20), one(26, 25)), Err(shortage));
        let shortage = BudgetExceeded {
            limit: BudgetLimit::Calls,
            a_day: 2,
            left: 0,
            wanted: 1,
        };
        assert_eq!(
            budget.check(one(0, 0) + one(900, 0), one(0, 0)),
            Err(shortage),
            "and one that is overdrawn has nothing left"
        );
        assert_eq!(
            Budget::default().check(one(u64::MAX, u64::MAX), one(u64::MAX, 1)),
            Ok(()),
            "no limit is no limit"
        );
        assert_eq!(
            Budget {
                calls_a_day: Some(0),
                tokens_a_day: None
            }
            .check(NO_USAGE, one(0, 0))
            .map_err(|own| own.left),
            Err(0)
        );
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the shares are exact in binary")]
    fn the_share_that_is_left_is_that_of_the_scarcer_limit() {
        let share = |budget: Budget, spent: LlmUsage| {
            BudgetStatus {
                budget,
                left: budget.remaining(spent),
            }
            .remaining_share()
        };
        let budget = Budget {
            calls_a_day: Some(4),
            tokens_a_day: Some(100),
        };
        let spent = LlmUsage {
            calls: 1,
            prompt_tokens: 30,
            answer_tokens: 20,
        };
        assert_eq!(
            [
                share(budget, NO_USAGE),
                share(budget, spent),
                share(Budget::default(), spent)
            ],
            [1.0, 0.5, 1.0]
        );
        assert_eq!(
            [
                share(budget, LlmUsage { calls: 9, ..spent }),
                share(
                    Budget {
                        calls_a_day: Some(0),
                        ..budget
                    },
                    NO_USAGE
                )
            ],
            [0.0; 2]
        );
    }

    proptest! {
        #[test]
        fn whatever_is_allowed_stays_within_the_budget(
            budget in (prop::option::of(0..20_u64), prop::option::of(0..900_u64)),
            wanted in prop::collection::vec((0..3_u64, 0..90_u64, 0..90_u64), 0..40),
        ) {
            let budget = Budget { calls_a_day: budget.0, tokens_a_day: budget.1 };
            let mut spent = NO_USAGE;
            for (calls, prompt_tokens, answer_tokens) in wanted {
                let more = LlmUsage { calls, prompt_tokens, answer_tokens };
                if budget.check(spent, more).is_ok() {
                    spent = spent + more;
                }
            }
            prop_assert!(budget.calls_a_day.is_none_or(|limit| spent.calls <= limit));
            prop_assert!(budget.tokens_a_day.is_none_or(|limit| spent.total_tokens() <= limit));
        }
    }
}
