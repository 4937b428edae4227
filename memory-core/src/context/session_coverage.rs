//! The choice of hits for a budget, with hits of several sessions for a query that asks for several things.

use std::collections::HashSet;

use crate::query_parser::expects_several_results;
use crate::rank::CollectionKind;
use crate::{Hit, Memory, SpeakerRole};

/// The budget divided by this number is filled by relevance alone before other sessions are covered.
pub(super) const RELEVANCE_DIVISOR: usize = 3;

/// Returns the hits for `query` that fit into `budget` tokens together, where `count` returns the tokens of one hit.
///
/// The order stays by relevance, unless the query asks for several things: then a third of the budget goes by relevance, and the
/// best hit of each further session follows. A hit that does not fit is skipped.
pub fn fit_budget(
    hits: Vec<Hit>,
    query: &str,
    budget: usize,
    count: &dyn Fn(&Hit) -> usize,
) -> Vec<Hit> {
    let hits = if expects_several_results(query) {
        cover_sessions(
            hits,
            budget / RELEVANCE_DIVISOR,
            &|hit| &hit.stored.memory,
            count,
        )
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
    by_time.sort_by_key(|number| {
        (
            memories[*number].scope.to_string(),
            memories[*number].created_at,
        )
    });
    let mut sessions = vec![0; found.len()];
    for pair in by_time.windows(2) {
        let (before, after) = (memories[pair[0]], memories[pair[1]]);
        let shape = CollectionKind::of(
            after
                .role
                .or_else(|| SpeakerRole::from_source(&after.source)),
            true,
        );
        let continues = before.scope == after.scope
            && after.created_at - before.created_at <= shape.session_pause();
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
        if is_next {
            first.push(item);
        } else {
            rest.push(item);
        }
    }
    first.extend(rest);
    first
}
