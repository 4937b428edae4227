//! Covers sessions before several memories of one session.

use std::collections::HashSet;

use super::RELEVANCE_DIVISOR;
use crate::query_parser::expects_several_results;
use crate::rank::CollectionKind;
use crate::{Hit, Memory, SpeakerRole};

/// Returns the hits for `query` that fit into `budget` tokens together, where `count` returns the tokens of one hit.
///
/// The order stays by relevance, unless the query asks for several things: then a third of the budget goes by relevance, and the
/// best hit of each further session follows. A hit that does not fit is skipped.
pub fn fit_budget(hits: Vec<Hit>, query: &str, budget: usize, count: &dyn Fn(&Hit) -> usize) -> Vec<Hit> {
    let hits = if expects_several_results(query) {
        cover_sessions(hits, budget / RELEVANCE_DIVISOR, &|hit| &hit.stored.memory, count)
    } else {
        hits
    };
    let mut left = budget;
    let mut fits = |hit: &Hit| {
        let tokens = count(hit);
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    };
    hits.into_iter().filter(|hit| fits(hit)).collect()
}

/// Moves the best item of each session behind the first items, up to `tokens` tokens, which keep their places. The remaining items
/// follow in their order.
///
/// A session ends with a pause of more than [`CollectionKind::pause`] between the memories of a scope.
pub(super) fn cover_sessions<T>(
    found: Vec<T>,
    tokens: usize,
    memory_of: &dyn Fn(&T) -> &Memory,
    count: &dyn Fn(&T) -> usize,
) -> Vec<T> {
    let memories: Vec<&Memory> = found.iter().map(memory_of).collect();
    let mut by_time: Vec<usize> = (0..found.len()).collect();
    by_time.sort_by_key(|number| (memories[*number].scope.to_string(), memories[*number].created_at));
    let mut sessions = vec![0; found.len()];
    for pair in by_time.windows(2) {
        let (before, after) = (memories[pair[0]], memories[pair[1]]);
        let shape = CollectionKind::of(after.role.or_else(|| SpeakerRole::from_source(&after.source)));
        let continues = before.scope == after.scope && after.created_at - before.created_at <= shape.session_pause();
        sessions[pair[1]] = sessions[pair[0]] + usize::from(!continues);
    }
    let mut covered = HashSet::new();
    let mut used = 0;
    let is_next = |(number, item): (usize, &T)| {
        let is_first = used < tokens;
        used += count(item);
        covered.insert(sessions[number]) || is_first
    };
    let next: Vec<bool> = found.iter().enumerate().map(is_next).collect();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (item, is_next) in found.into_iter().zip(next) {
        if is_next { first.push(item) } else { rest.push(item) }
    }
    first.extend(rest);
    first
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::{DateTime, TimeDelta};

    use super::*;
    use crate::testing::services;
    use crate::{Draft, Filter, MemStore, Query, Ranking, SecretPolicy, search, write};

    #[test]
    fn the_best_of_each_session_follows_those_that_are_taken_by_relevance() {
        let services = services(Arc::new(MemStore::default()));
        let turns = [("one", 0), ("two", 1), ("three", 2), ("four", 48), ("five", 49), ("six", 96)];
        let stored = turns.map(|(text, hours)| {
            let created_at = Some(DateTime::UNIX_EPOCH + TimeDelta::hours(hours));
            let written = write(&services, Draft { created_at, ..Draft::new(text) }, SecretPolicy::Refuse).expect("it is kept");
            services.store.get(&written.id).expect("it is there")
        });
        let covered = |tokens: usize| -> Vec<String> {
            cover_sessions(stored.to_vec(), tokens, &|stored| &stored.memory, &|_| 10)
                .into_iter()
                .map(|stored| stored.memory.content)
                .collect()
        };
        assert_eq!(covered(1), ["one", "four", "six", "two", "three", "five"]);
        assert_eq!(covered(11), ["one", "two", "four", "six", "three", "five"]);
    }

    #[test]
    fn a_budget_keeps_the_best_hits_and_covers_sessions_where_several_things_are_asked() {
        let services = services(Arc::new(MemStore::default()));
        for (text, hours) in [("museum museum museum", 0), ("museum museum", 1), ("museum", 48)] {
            let created_at = Some(DateTime::UNIX_EPOCH + TimeDelta::hours(hours));
            write(&services, Draft { created_at, ..Draft::new(text) }, SecretPolicy::Refuse).expect("the memory is written");
        }
        let query = Query { text: "museum".to_owned(), filter: Filter::default(), limit: 10, ranking: Ranking::default() };
        let fitting = |text: &str, budget: usize| -> Vec<String> {
            let found = search(&services, &query).expect("the store is readable");
            let hits = fit_budget(found.hits, text, budget, &|_| 10);
            hits.into_iter().map(|hit| hit.stored.memory.content).collect()
        };
        let all = fitting("museum", 30);
        assert_eq!(all.len(), 3);
        assert_eq!(fitting("museum", 20), all[..2]);
        assert!(fitting("in what order did I visit the museums", 20).contains(&"museum".to_owned()));
        assert!(fitting("museum", 9).is_empty());
    }
}
