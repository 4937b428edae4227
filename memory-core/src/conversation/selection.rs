//! Selects the memories to recall for a message.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::claim::{EntryClaims, TextClaim};
use super::{ConversationEntry, EntryId, EntryRole};
use crate::embedder::cosine;
use crate::rank::{recency, select_diverse};
use crate::text::WordOverlaps;

/// The parameters of a recall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallRules {
    /// The maximum number of memories.
    pub top_k: usize,
    /// The weight of recency in the score, from 0 to 1.
    pub recency_weight: f32,
    /// The minimum relevance, from 0 to 1.
    pub score_threshold: f32,
    /// The weight of the score in maximal marginal relevance, from 0 to 1.
    ///
    /// The rest is the weight of diversity.
    pub mmr_lambda: f32,
}

impl Default for RecallRules {
    fn default() -> Self {
        Self {
            top_k: 5,
            recency_weight: 0.2,
            score_threshold: 0.35,
            mmr_lambda: 0.7,
        }
    }
}

/// An entry that may be recalled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecallCandidate {
    /// The entry.
    pub entry: Arc<ConversationEntry>,
    /// The kind of match.
    pub kind: RecallMatchKind,
    /// The relevance to the query, from 0 to 1.
    pub relevance: f32,
    /// The vector of the text, if it has one.
    pub vector: Option<Arc<[f32]>>,
    /// Whether a newer entry has superseded it.
    pub is_superseded: bool,
    /// The parsed claims of the text.
    pub(super) claims: EntryClaims,
}

/// The kind of match, in descending priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecallMatchKind {
    /// A fact, or a turn of the user that matches by its statements.
    Statement,
    /// A turn of the model.
    Answer,
    /// A turn of the user that is only a request, or matches only by its requests.
    Request,
}

/// A recalled entry.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledMemory {
    /// The entry.
    pub entry: Arc<ConversationEntry>,
    /// The text for the model: that of the entry, or a passage of a long one.
    pub text: String,
    /// The relevance to the query, from 0 to 1.
    pub relevance: f32,
    /// The score: `(1 − w) · relevance + w · exp(−age / 30 days)`.
    ///
    /// It is reduced if a newer entry has superseded this one.
    pub score: f32,
    /// Whether a newer entry has superseded it.
    pub is_superseded: bool,
}

/// The minimum lead in relevance with which a turn of the model replaces the last fact.
const ANSWER_LEAD: f32 = 0.25;

/// The minimum `top_k` at which a turn of the model may replace a fact.
const MIN_TOP_K: usize = 4;

/// The factor on the score of a superseded entry.
const SUPERSEDED_FACTOR: f32 = 0.7;

/// The number of candidates that are checked for variations.
const MAX_COMPARED: usize = 200;

/// Returns the candidates to recall, in order.
///
/// The order of the groups is: statements, superseded statements, turns of the model, requests. A candidate with the same claim as a better
/// one is dropped; one with nearly the same claim follows all others of its group. Within these groups the order is maximal marginal
/// relevance, so that a repetition of a better candidate follows different ones. Candidates below the relevance threshold are dropped, and
/// each entry is returned once. If the list is full, the most relevant turn of the model may replace its last entry.
pub fn select_memories(
    candidates: Vec<RecallCandidate>,
    rules: &RecallRules,
    now: DateTime<Utc>,
) -> Vec<RecalledMemory> {
    let mut pool: Vec<ScoredRecall> = candidates
        .into_iter()
        .filter(|candidate| rules.score_threshold <= candidate.relevance)
        .map(|candidate| ScoredRecall::new(candidate, rules, now))
        .collect();
    let order = |one: &ScoredRecall, other: &ScoredRecall| {
        let (first, second) = (&one.candidate.entry, &other.candidate.entry);
        let newer = second.created_at.cmp(&first.created_at);
        one.group()
            .cmp(&other.group())
            .then(other.score.total_cmp(&one.score))
            .then(newer)
            .then_with(|| first.id.cmp(&second.id))
    };
    pool.sort_by(order);
    let mut seen = HashSet::new();
    pool.retain(|own| seen.insert(own.candidate.entry.id.clone()));
    remove_turns_with_facts(&mut pool);
    remove_repeated(&mut pool);
    mark_variations(&mut pool);
    pool.sort_by(order);

    let mut chosen: Vec<&ScoredRecall> = Vec::new();
    for group in pool.chunk_by(|one, other| one.group() == other.group()) {
        let own = most_diverse(group, rules);
        let best = own
            .first()
            .map(|best| &best.candidate)
            .filter(|best| best.kind == RecallMatchKind::Answer);
        let last = chosen
            .last()
            .filter(|_| MIN_TOP_K <= rules.top_k && chosen.len() == rules.top_k);
        if best
            .zip(last)
            .is_some_and(|(best, last)| last.candidate.relevance + ANSWER_LEAD <= best.relevance)
        {
            chosen.pop();
        }
        let room = rules.top_k - chosen.len();
        chosen.extend(own.into_iter().take(room));
    }
    chosen.into_iter().map(ScoredRecall::to_recalled).collect()
}

/// A candidate with its score and claim.
#[derive(Debug)]
struct ScoredRecall {
    score: f32,
    candidate: RecallCandidate,
    claim: Arc<TextClaim>,
    is_variation: bool,
}

impl ScoredRecall {
    fn new(candidate: RecallCandidate, rules: &RecallRules, now: DateTime<Utc>) -> Self {
        let weight = rules.recency_weight.clamp(0.0, 1.0);
        let score = (1.0 - weight) * candidate.relevance
            + weight * recency(candidate.entry.created_at, now);
        let score = if candidate.is_superseded {
            SUPERSEDED_FACTOR * score
        } else {
            score
        };
        let claim = candidate.claims.full_claim(&candidate.entry);
        Self {
            score,
            candidate,
            claim,
            is_variation: false,
        }
    }

    /// Returns the group; smaller groups come first.
    fn group(&self) -> (RecallMatchKind, bool, bool) {
        (
            self.candidate.kind,
            self.candidate.is_superseded,
            self.is_variation,
        )
    }

    fn is_current_fact(&self) -> bool {
        self.candidate.entry.role == EntryRole::Memory && !self.candidate.is_superseded
    }

    fn to_recalled(&self) -> RecalledMemory {
        let RecallCandidate {
            entry,
            relevance,
            is_superseded,
            ..
        } = &self.candidate;
        RecalledMemory {
            entry: Arc::clone(entry),
            text: entry.content.clone(),
            relevance: *relevance,
            score: self.score,
            is_superseded: *is_superseded,
        }
    }
}

/// Removes each turn that is fully covered by facts among the candidates.
fn remove_turns_with_facts(pool: &mut Vec<ScoredRecall>) {
    let mut facts = HashMap::<EntryId, Vec<Arc<TextClaim>>>::new();
    for fact in pool.iter().filter(|own| own.is_current_fact()) {
        if let Some(source) = &fact.candidate.entry.source_id {
            facts
                .entry(source.clone())
                .or_default()
                .push(Arc::clone(&fact.claim));
        }
    }
    pool.retain(|own| {
        let facts: Vec<&TextClaim> = facts
            .get(&own.candidate.entry.id)
            .into_iter()
            .flatten()
            .map(Arc::as_ref)
            .collect();
        !own.claim.is_covered_by(&facts)
    });
}

/// Removes candidates with the same claim as a better one.
///
/// Of a fact and a turn of one group, the fact remains.
fn remove_repeated(pool: &mut Vec<ScoredRecall>) {
    let mut known = HashMap::<Arc<TextClaim>, usize>::new();
    let mut kept: Vec<ScoredRecall> = Vec::with_capacity(pool.len());
    for own in pool.drain(..) {
        if own.claim.is_empty() {
            let repeats = |other: &ScoredRecall| {
                other.claim.is_empty()
                    && other.candidate.entry.content == own.candidate.entry.content
            };
            if !kept.iter().any(repeats) {
                kept.push(own);
            }
            continue;
        }
        match known.get(&own.claim) {
            None => {
                known.insert(Arc::clone(&own.claim), kept.len());
                kept.push(own);
            }
            Some(number) => {
                let better = &mut kept[*number];
                let is_turn = better.candidate.entry.role != EntryRole::Memory
                    && better.group() == own.group();
                if is_turn && own.is_current_fact() {
                    better.candidate = own.candidate;
                }
            }
        }
    }
    *pool = kept;
}

/// Marks candidates with nearly the same claim as a better one of their group.
fn mark_variations(pool: &mut [ScoredRecall]) {
    for number in 1..pool.len().min(MAX_COMPARED) {
        let (better, rest) = pool.split_at_mut(number);
        let own = &mut rest[0];
        let is_variation = |other: &ScoredRecall| {
            let is_alike = other.candidate.kind == own.candidate.kind
                && other.candidate.is_superseded == own.candidate.is_superseded;
            is_alike && !other.is_variation && own.claim.is_variation(&other.claim)
        };
        own.is_variation = better.iter().any(is_variation);
    }
}

/// Returns the best `top_k` candidates in the order of maximal marginal relevance.
fn most_diverse<'p>(pool: &'p [ScoredRecall], rules: &RecallRules) -> Vec<&'p ScoredRecall> {
    let scores: Vec<f32> = pool.iter().map(|own| own.score).collect();
    let texts: Vec<String> = pool.iter().map(|own| own.claim.to_string()).collect();
    let texts: Vec<&str> = texts
        .iter()
        .zip(pool)
        .map(|(text, own)| {
            if text.is_empty() {
                own.candidate.entry.content.as_str()
            } else {
                text.as_str()
            }
        })
        .collect();
    let overlaps = WordOverlaps::of(&texts);
    let likeness = |one: usize, other: usize| match (
        &pool[one].candidate.vector,
        &pool[other].candidate.vector,
    ) {
        (Some(left), Some(right)) if left.len() == right.len() => {
            cosine(left, right).clamp(0.0, 1.0)
        }
        _ => overlaps.similarity(one, other),
    };
    let order = select_diverse(
        &scores,
        rules.mmr_lambda.clamp(0.0, 1.0),
        rules.top_k,
        &likeness,
    );
    order.into_iter().map(|number| &pool[number]).collect()
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

    fn candidate(id: usize, text: &str, relevance: f32, days: i64) -> RecallCandidate {
        let id = format!("{id}").parse().unwrap();
        let entry = ConversationEntry::new(
            id,
            &"default".parse().unwrap(),
            EntryRole::Memory,
            text,
            now() - TimeDelta::days(days),
        );
        RecallCandidate {
            entry: Arc::new(entry),
            kind: RecallMatchKind::Statement,
            relevance,
            vector: None,
            is_superseded: false,
            claims: EntryClaims::default(),
        }
    }

    fn texts(candidates: Vec<RecallCandidate>, rules: &RecallRules) -> Vec<String> {
        select_memories(candidates, rules, now())
            .into_iter()
            .map(|remembered| remembered.entry.content.clone())
            .collect()
    }

    #[test]
    fn what_is_less_relevant_than_the_threshold_is_left_out_however_new_it_is() {
        let candidates = vec![
            candidate(1, "tea", 0.35, 900),
            candidate(2, "coffee", 0.349, 0),
            candidate(3, "nan", f32::NAN, 0),
        ];
        assert_eq!(texts(candidates, &RecallRules::default()), ["tea"]);
    }

    #[test]
    fn of_two_alike_the_newer_comes_first() {
        let candidates = vec![
            candidate(1, "hates pizza", 0.6, 60),
            candidate(2, "loves hiking", 0.55, 0),
        ];
        let found = select_memories(candidates, &RecallRules::default(), now());
        assert_eq!(found[0].entry.content, "loves hiking");
        assert!((found[0].score - (0.8 * 0.55 + 0.2)).abs() < 1e-6);
        assert!((found[1].score - (0.8 * 0.6 + 0.2 * (-2.0_f32).exp())).abs() < 1e-6);
    }

    #[test]
    fn what_repeats_a_better_one_comes_behind_what_does_not() {
        let all = || {
            vec![
                candidate(1, "met Tom in Oslo in May", 0.9, 0),
                candidate(2, "met Tom in Rome in May", 0.89, 0),
                candidate(3, "has a dog", 0.7, 0),
            ]
        };
        let two = RecallRules {
            top_k: 2,
            ..RecallRules::default()
        };
        assert_eq!(texts(all(), &two), ["met Tom in Oslo in May", "has a dog"]);
        let relevant = RecallRules {
            mmr_lambda: 1.0,
            ..two
        };
        assert_eq!(
            texts(all(), &relevant),
            ["met Tom in Oslo in May", "met Tom in Rome in May"]
        );
    }

    #[test]
    fn what_says_the_same_is_told_once_and_variations_leave_room_for_others() {
        let all = vec![
            candidate(1, "I like coffee.", 0.95, 0),
            candidate(2, "I really love coffee!", 0.94, 0),
            candidate(3, "Coffee is my favourite drink", 0.93, 0),
            candidate(4, "I drink coffee every morning", 0.92, 0),
            candidate(5, "I like strong coffee", 0.91, 0),
            candidate(6, "I like coffee with milk", 0.9, 0),
            candidate(7, "I take the train at eight", 0.4, 20),
            candidate(8, "I hate coffee in the office of Tom", 0.5, 20),
        ];
        let three = RecallRules {
            top_k: 3,
            ..RecallRules::default()
        };
        let expected = [
            "I like coffee.",
            "I take the train at eight",
            "I hate coffee in the office of Tom",
        ];
        assert_eq!(texts(all.clone(), &three), expected);
        assert_eq!(texts(all, &RecallRules { top_k: 10, ..three }).len(), 5);
    }

    #[test]
    fn a_fact_stands_for_the_turn_that_it_was_drawn_from() {
        let with_role = |own: RecallCandidate, role, source: Option<&str>| {
            let source_id = source.map(|id| id.parse().unwrap());
            RecallCandidate {
                entry: Arc::new(ConversationEntry {
                    role,
                    source_id,
                    ..(*own.entry).clone()
                }),
                ..own
            }
        };
        let turn = |id, text| with_role(candidate(id, text, 0.9, 0), EntryRole::User, None);
        let fact = |id, text, source| {
            with_role(candidate(id, text, 0.6, 0), EntryRole::Memory, Some(source))
        };
        let all = vec![
            turn(1, "We moved: I live in Lyon now."),
            fact(2, "The user lives in Lyon.", "1"),
            turn(3, "I like tea"),
            fact(4, "The user likes tea.", "9"),
            turn(5, "My dog Rex lives with Anna in Lyon"),
            fact(6, "The user's dog is Rex.", "5"),
        ];
        let mut found = texts(
            all,
            &RecallRules {
                top_k: 10,
                ..RecallRules::default()
            },
        );
        found.sort();
        let expected = [
            "My dog Rex lives with Anna in Lyon",
            "The user likes tea.",
            "The user lives in Lyon.",
            "The user's dog is Rex.",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn facts_come_first_then_what_is_superseded_then_answers_then_requests() {
        let of = |id, text, kind, is_superseded| RecallCandidate {
            kind,
            is_superseded,
            ..candidate(id, text, 0.9, 0)
        };
        let all = vec![
            of(1, "a request", RecallMatchKind::Request, false),
            of(2, "an answer", RecallMatchKind::Answer, false),
            of(3, "an earlier fact", RecallMatchKind::Statement, true),
            candidate(4, "a fact", 0.4, 90),
        ];
        let found = select_memories(all, &RecallRules::default(), now());
        let texts: Vec<&str> = found
            .iter()
            .map(|remembered| remembered.entry.content.as_str())
            .collect();
        assert_eq!(
            texts,
            ["a fact", "an earlier fact", "an answer", "a request"]
        );
        assert!(found[1].is_superseded && found[1].score < found[2].score);
    }

    #[test]
    fn vectors_tell_what_repeats_where_there_are_some() {
        let with = |id, text, relevance, vector: [f32; 2]| RecallCandidate {
            vector: Some(vector.into()),
            ..candidate(id, text, relevance, 0)
        };
        let all = vec![
            with(1, "a", 0.9, [1.0, 0.0]),
            with(2, "b", 0.89, [1.0, 0.0]),
            with(3, "c", 0.6, [0.0, 1.0]),
        ];
        assert_eq!(
            texts(
                all,
                &RecallRules {
                    top_k: 2,
                    ..RecallRules::default()
                }
            ),
            ["a", "c"]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_chosen_twice_or_made_up(
            relevances in proptest::collection::vec((0_usize..20, 0.0_f32..=1.0, 0_i64..100), 0..40),
            top_k in 0_usize..10,
            threshold in 0.0_f32..=1.0,
        ) {
            let candidates: Vec<_> = relevances.iter().map(|(id, relevance, days)| candidate(*id, &format!("fact {id}"), *relevance, *days)).collect();
            let rules = RecallRules { top_k, score_threshold: threshold, ..RecallRules::default() };
            let chosen = select_memories(candidates.clone(), &rules, now());
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
