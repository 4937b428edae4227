//! Batch sizes for extraction, which depend on the remaining budget.

use chrono::TimeDelta;
use memory_core::BudgetStatus;

/// Maximum number of turns per request.
pub(super) const MAX_TURNS: usize = 32;

/// With sufficient budget, turns are extracted one by one unless more than this number are waiting.
const SINGLE_TURN_LIMIT: usize = 8;

/// The conditions for a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BatchRule {
    /// Number of waiting turns of a conversation from which a request is made.
    pub(super) turns: usize,
    /// Maximum age of the oldest waiting turn before a request is made.
    pub(super) patience: TimeDelta,
}

impl BatchRule {
    /// Returns the rule for the remaining budget of the day.
    ///
    /// Each time half of the rest is used, the batch size doubles (after a first step to 4), so that requests remain for the rest of the
    /// day.
    pub(super) fn new(allowance: &BudgetStatus) -> Self {
        let (turns, minutes) = match allowance.remaining_share() {
            share if 0.5 < share => (1, 0),
            share if 0.25 < share => (4, 15),
            share if 0.125 < share => (8, 30),
            share if 0.0625 < share => (16, 60),
            _ => (MAX_TURNS, 120),
        };
        Self { turns, patience: TimeDelta::minutes(minutes) }
    }

    /// Returns whether to make a request now, given the number of waiting turns and the age of the oldest.
    pub(super) fn is_due(self, waiting: usize, oldest: TimeDelta) -> bool {
        // A negative age means that the clock was set back.
        self.turns <= waiting || self.patience <= oldest || oldest < TimeDelta::zero()
    }

    /// Returns the number of turns for the next request, given the number of waiting turns.
    pub(super) fn size(self, waiting: usize) -> usize {
        if self.turns == 1 && waiting <= SINGLE_TURN_LIMIT { 1 } else { waiting.min(MAX_TURNS) }
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Budget, LlmUsage};

    use super::*;

    fn rule(spent: u64) -> BatchRule {
        let budget = Budget { calls_a_day: Some(300), tokens_a_day: None };
        let left = budget.remaining(LlmUsage { calls: spent, ..LlmUsage::default() });
        BatchRule::new(&BudgetStatus { budget, left })
    }

    #[test]
    fn the_less_is_left_the_more_turns_share_a_call() {
        let turns: Vec<usize> = [0, 149, 150, 225, 263, 282, 299].map(|spent| rule(spent).turns).to_vec();
        assert_eq!(turns, [1, 1, 4, 8, 16, 32, 32]);
        assert!(rule(0).is_due(1, TimeDelta::zero()) && !rule(150).is_due(3, TimeDelta::minutes(14)));
        assert!(rule(150).is_due(4, TimeDelta::zero()) && rule(150).is_due(1, TimeDelta::minutes(15)));
        assert_eq!([rule(0).size(8), rule(0).size(9), rule(0).size(99), rule(150).size(4)], [1, 9, MAX_TURNS, 4]);
    }

    #[test]
    fn three_calls_a_batch_suffice_for_hundreds_of_turns_a_day() {
        let (mut spent, mut turns) = (0, 0);
        while spent + 3 <= 300 {
            turns += rule(spent).turns;
            spent += 3;
        }
        assert!(400 < turns, "{turns}");
    }
}
