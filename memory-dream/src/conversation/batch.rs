//! How many turns are extracted in one call, depending on what is left of the budget.

use chrono::TimeDelta;
use memory_core::Allowance;

/// At most this many turns are extracted in one call.
pub(super) const MAX_TURNS: usize = 32;

/// While there is plenty of the budget, turns are extracted one by one unless more than this many wait.
const BACKLOG: usize = 8;

/// How turns are put together for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BatchRule {
    /// How many turns of a conversation must wait before the model is asked about them.
    pub(super) turns: usize,
    /// How long the oldest of them waits for others at most.
    pub(super) patience: TimeDelta,
}

impl BatchRule {
    /// Returns the rule for what is left of the day's budget. Each time that half of the rest is used up, twice as many turns share a
    /// call, so that there are calls left for the rest of the day.
    pub(super) fn new(allowance: &Allowance) -> Self {
        let (turns, minutes) = match allowance.share_left() {
            share if 0.5 < share => (1, 0),
            share if 0.25 < share => (4, 15),
            share if 0.125 < share => (8, 30),
            share if 0.0625 < share => (16, 60),
            _ => (MAX_TURNS, 120),
        };
        Self { turns, patience: TimeDelta::minutes(minutes) }
    }

    /// Returns whether the model is to be asked now about turns of which the oldest has waited so long.
    pub(super) fn is_due(self, waiting: usize, oldest: TimeDelta) -> bool {
        // A turn of a time to come is of a clock that was put back.
        self.turns <= waiting || self.patience <= oldest || oldest < TimeDelta::zero()
    }

    /// Returns how many turns one call is about, where this many wait.
    pub(super) fn size(self, waiting: usize) -> usize {
        if self.turns == 1 && waiting <= BACKLOG { 1 } else { waiting.min(MAX_TURNS) }
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Budget, Spent};

    use super::*;

    fn rule(spent: u64) -> BatchRule {
        let budget = Budget { calls_a_day: Some(300), tokens_a_day: None };
        let left = budget.left(Spent { calls: spent, ..Spent::default() });
        BatchRule::new(&Allowance { budget, left })
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
