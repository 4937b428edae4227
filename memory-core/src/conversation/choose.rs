//! Which memories a message calls to mind.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::Entry;
use super::shelf::cosine;
use crate::rank::{diverse, recency};
use crate::text::Overlaps;

/// How memories are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallRules {
    /// How many at most.
    pub top_k: usize,
    /// How much newness counts, from 0 to 1.
    pub recency_weight: f32,
    /// What is less relevant is left out, from 0 to 1.
    pub score_threshold: f32,
    /// How much of the order is the worth of a memory, from 0 to 1; the rest is how little it repeats what was chosen before it.
    pub mmr_lambda: f32,
}

impl Default for RecallRules {
    fn default() -> Self {
        Self { top_k: 5, recency_weight: 0.2, score_threshold: 0.35, mmr_lambda: 0.7 }
    }
}

/// An entry that may be called to mind.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The entry.
    pub entry: Arc<Entry>,
    /// How well it answers, from 0 to 1.
    pub relevance: f32,
    /// The vector of its text, if it has one.
    pub vector: Option<Arc<[f32]>>,
}

/// An entry that was called to mind.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The entry.
    pub entry: Arc<Entry>,
    /// How well it answers, from 0 to 1.
    pub relevance: f32,
    /// What it is worth: `(1 − w) · relevance + w · exp(−age / 30 days)`.
    pub score: f32,
}

/// Returns which of the candidates are called to mind, in the order of maximal marginal relevance: what is not relevant enough is left
/// out, and what repeats a better one comes behind what does not. What stands among them twice counts once.
pub fn choose(candidates: Vec<Candidate>, rules: &RecallRules, now: DateTime<Utc>) -> Vec<Remembered> {
    let weight = rules.recency_weight.clamp(0.0, 1.0);
    let mut pool: Vec<(f32, Candidate)> = candidates
        .into_iter()
        .filter(|candidate| rules.score_threshold <= candidate.relevance)
        .map(|candidate| ((1.0 - weight) * candidate.relevance + weight * recency(candidate.entry.created_at, now), candidate))
        .collect();
    pool.sort_by(|(one, first), (other, second)| {
        let newer = second.entry.created_at.cmp(&first.entry.created_at);
        other.total_cmp(one).then(newer).then_with(|| first.entry.id.cmp(&second.entry.id))
    });
    let mut seen = std::collections::HashSet::new();
    pool.retain(|(_, candidate)| seen.insert(candidate.entry.id.clone()));

    let scores: Vec<f32> = pool.iter().map(|(score, _)| *score).collect();
    let texts: Vec<&str> = pool.iter().map(|(_, candidate)| candidate.entry.content.as_str()).collect();
    let overlaps = Overlaps::of(&texts);
    let likeness = |one: usize, other: usize| match (&pool[one].1.vector, &pool[other].1.vector) {
        (Some(left), Some(right)) if left.len() == right.len() => cosine(left, right).clamp(0.0, 1.0),
        _ => overlaps.between(one, other),
    };
    let order = diverse(&scores, rules.mmr_lambda.clamp(0.0, 1.0), rules.top_k, &likeness);
    let remembered = |number: usize| {
        let (score, candidate) = &pool[number];
        Remembered { entry: Arc::clone(&candidate.entry), relevance: candidate.relevance, score: *score }
    };
    order.into_iter().map(remembered).collect()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::EntryRole;

    fn now() -> DateTime<Utc> {
        "2026-11-21T00:00:00Z".parse().unwrap()
    }

    fn candidate(id: usize, text: &str, relevance: f32, days: i64) -> Candidate {
        let id = format!("{id}").parse().unwrap();
        let entry = Entry::new(id, &"default".parse().unwrap(), EntryRole::Memory, text, now() - TimeDelta::days(days));
        Candidate { entry: Arc::new(entry), relevance, vector: None }
    }

    fn texts(candidates: Vec<Candidate>, rules: &RecallRules) -> Vec<String> {
        choose(candidates, rules, now()).into_iter().map(|remembered| remembered.entry.content.clone()).collect()
    }

    #[test]
    fn what_is_less_relevant_than_the_threshold_is_left_out_however_new_it_is() {
        let candidates = vec![candidate(1, "tea", 0.35, 900), candidate(2, "coffee", 0.349, 0), candidate(3, "nan", f32::NAN, 0)];
        assert_eq!(texts(candidates, &RecallRules::default()), ["tea"]);
    }

    #[test]
    fn of_two_alike_the_newer_comes_first() {
        let candidates = vec![candidate(1, "hates pizza", 0.6, 60), candidate(2, "loves hiking", 0.55, 0)];
        let found = choose(candidates, &RecallRules::default(), now());
        assert_eq!(found[0].entry.content, "loves hiking");
        assert!((found[0].score - (0.8 * 0.55 + 0.2)).abs() < 1e-6);
        assert!((found[1].score - (0.8 * 0.6 + 0.2 * (-2.0_f32).exp())).abs() < 1e-6);
    }

    #[test]
    fn what_repeats_a_better_one_comes_behind_what_does_not() {
        let all = || {
            vec![candidate(1, "likes coffee", 0.9, 0), candidate(2, "likes coffee", 0.89, 0), candidate(3, "has a dog", 0.6, 0)]
        };
        let two = RecallRules { top_k: 2, ..RecallRules::default() };
        assert_eq!(texts(all(), &two), ["likes coffee", "has a dog"]);
        assert_eq!(texts(all(), &RecallRules { mmr_lambda: 1.0, ..two }), ["likes coffee", "likes coffee"]);
    }

    #[test]
    fn vectors_tell_what_repeats_where_there_are_some() {
        let with = |id, text, relevance, vector: [f32; 2]| Candidate {
            vector: Some(vector.into()),
            ..candidate(id, text, relevance, 0)
        };
        let all = vec![with(1, "a", 0.9, [1.0, 0.0]), with(2, "b", 0.89, [1.0, 0.0]), with(3, "c", 0.6, [0.0, 1.0])];
        assert_eq!(texts(all, &RecallRules { top_k: 2, ..RecallRules::default() }), ["a", "c"]);
    }

    proptest! {
        #[test]
        fn nothing_is_chosen_twice_or_made_up(
            relevances in proptest::collection::vec((0_usize..20, 0.0_f32..=1.0, 0_i64..100), 0..40),
            top_k in 0_usize..10,
            threshold in 0.0_f32..=1.0,
        ) {
            let candidates: Vec<_> = relevances.iter().map(|(id, relevance, days)| candidate(*id, "a b", *relevance, *days)).collect();
            let rules = RecallRules { top_k, score_threshold: threshold, ..RecallRules::default() };
            let chosen = choose(candidates.clone(), &rules, now());
            let mut ids: Vec<_> = chosen.iter().map(|remembered| remembered.entry.id.clone()).collect();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), chosen.len());
            prop_assert!(chosen.len() <= top_k && chosen.iter().all(|remembered| threshold <= remembered.relevance));
            let mut relevant: Vec<_> = candidates.iter().filter(|own| threshold <= own.relevance).map(|own| &own.entry.id).collect();
            relevant.sort();
            relevant.dedup();
            prop_assert_eq!(chosen.len(), relevant.len().min(top_k));
        }
    }
}
