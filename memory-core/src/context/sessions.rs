//! Covering sessions before memories of the same session.

use std::collections::HashSet;

use chrono::TimeDelta;

use crate::Stored;
use crate::rank::PAUSE_HOURS;

/// Puts the best memory of each session that the first ones, of so many `tokens` in all, are not part of next. The rest keeps its order.
///
/// A session ends with a pause of more than [`PAUSE_HOURS`] between the memories of a scope.
pub(super) fn cover_sessions(found: Vec<Stored>, tokens: usize, count: &dyn Fn(&Stored) -> usize) -> Vec<Stored> {
    let mut by_time: Vec<usize> = (0..found.len()).collect();
    by_time.sort_by_key(|number| (found[*number].memory.scope.to_string(), found[*number].memory.created_at));
    let mut sessions = vec![0; found.len()];
    for pair in by_time.windows(2) {
        let (before, after) = (&found[pair[0]].memory, &found[pair[1]].memory);
        let goes_on = before.scope == after.scope && after.created_at - before.created_at <= TimeDelta::hours(PAUSE_HOURS);
        sessions[pair[1]] = sessions[pair[0]] + usize::from(!goes_on);
    }
    let mut covered = HashSet::new();
    let mut taken = 0;
    let is_next = |(number, stored): (usize, &Stored)| {
        let is_first = taken < tokens;
        taken += count(stored);
        covered.insert(sessions[number]) || is_first
    };
    let next: Vec<bool> = found.iter().enumerate().map(is_next).collect();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (stored, is_next) in found.into_iter().zip(next) {
        if is_next { first.push(stored) } else { rest.push(stored) }
    }
    first.extend(rest);
    first
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::DateTime;

    use super::*;
    use crate::testing::{FakeStore, services};
    use crate::{Draft, Secrets, write};

    #[test]
    fn the_best_of_each_session_follows_those_that_are_taken_by_relevance() {
        let services = services(Arc::new(FakeStore::default()));
        let turns = [("one", 0), ("two", 1), ("three", 2), ("four", 48), ("five", 49), ("six", 96)];
        let stored = turns.map(|(text, hours)| {
            let created_at = Some(DateTime::UNIX_EPOCH + TimeDelta::hours(hours));
            let written = write(&services, Draft { created_at, ..Draft::new(text) }, Secrets::Refuse).expect("it is kept");
            services.store.get(&written.id).expect("it is there")
        });
        let covered = |tokens: usize| -> Vec<String> {
            cover_sessions(stored.to_vec(), tokens, &|_| 10).into_iter().map(|stored| stored.memory.content).collect()
        };
        assert_eq!(covered(1), ["one", "four", "six", "two", "three", "five"]);
        assert_eq!(covered(11), ["one", "two", "four", "six", "three", "five"]);
    }
}
