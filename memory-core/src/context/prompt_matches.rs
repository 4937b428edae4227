//! The memories that match a prompt: useful notes and messages of conversations.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;
use std::ops::RangeInclusive;

use chrono::{DateTime, TimeZone};

use super::session_start::list_for_start;
use super::usefulness::{MIN_USEFULNESS, RequestEvidence, UsefulSelection, select_useful};
use super::{Context, MIN_MEMORY_TOKENS, OmissionReason, OmittedMatch};
use crate::conversation::is_courtesy;
use crate::query_parser::expects_several_results;
use crate::rank::RankFeature;
use crate::search::{find_replacement, search_sentence};
use crate::smart_search::{demote_near_duplicates, list_newest, listing_filter};
use crate::standing::{asks_for_play, without_material};
use crate::{
    Category, Filter, Hit, Query, RankFeatureScore, Ranking, RecalledId, Scope, Services,
    StoreError, StoredMemory,
};

/// The minimum and maximum number of matches to consider.
pub(super) const MATCH_LIMITS: RangeInclusive<usize> = 30..=200;

/// Minimum relevance of a message of a conversation.
///
/// In 1,500 tokens, 91 % of the questions of a public set get a message with the answer, and 92 % without the minimum. Prompts
/// that concern none of the messages get 2 instead of 11 of them on average.
const MIN_RELEVANCE: f32 = 0.015;

/// Minimum cosine of a message of a conversation with a meaning near the prompt.
const MIN_COSINE: f32 = 0.3;

/// Returns whether a message shares a word with the prompt and is near in meaning, or is relevant and near in meaning, or relevant by its
/// words or those of its neighbours.
///
/// In a long prompt, each word weighs little, so a message that shares few of them has a low relevance.
pub(super) fn is_near_enough(hit: &Hit) -> bool {
    let explanation = &hit.explanation;
    let has_part = |part: RankFeature| explanation.parts.iter().any(|own| own.part == part);
    let has_word = has_part(RankFeature::Words);
    let has_other_word = || {
        [
            RankFeature::Characters,
            RankFeature::Neighbours,
            RankFeature::Reply,
        ]
        .into_iter()
        .any(has_part)
    };
    let is_near = explanation.cosine.is_none_or(|cosine| MIN_COSINE <= cosine);
    let is_relevant = explanation.parts.is_empty() || MIN_RELEVANCE <= explanation.relevance;
    has_word && is_near || is_relevant && (has_word || is_near || has_other_word())
}

/// The maximum number of versions of a note that are followed to the newest one.
const MAX_VERSIONS: usize = 3;

/// Returns the matches for a prompt: the useful notes, each in its newest version, then the messages of conversations.
pub(super) fn find_matches<Tz: TimeZone>(
    services: &Services,
    prompt: &str,
    budget: usize,
    now: &DateTime<Tz>,
    context: &mut Context,
) -> Result<Vec<StoredMemory>, StoreError> {
    if prompt.trim().is_empty() {
        return list_for_start(services, context);
    }
    let question = &*without_material(prompt);
    if asks_for_play(question) || is_courtesy(question) {
        return Ok(Vec::new());
    }
    let most = (budget / MIN_MEMORY_TOKENS).clamp(*MATCH_LIMITS.start(), *MATCH_LIMITS.end());
    let is_about_memories = listing_filter(question, &Filter::default(), now).is_some();
    let mut find = |filter: &Filter, limit: usize| {
        let found = if let Some(narrow) = listing_filter(question, filter, now) {
            list_newest(services, &narrow, limit)
        } else {
            let query = Query {
                text: question.to_owned(),
                filter: filter.clone(),
                limit,
                ranking: Ranking::default(),
            };
            search_sentence(services, &query)
        };
        match found {
            Ok(found) => {
                context.degraded = context.degraded.take().or(found.degraded);
                Ok(demote_near_duplicates(found.hits, limit))
            }
            // A prompt without words matches no memory.
            Err(StoreError::Invalid { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    };
    let mut hits = find(&Filter::default(), most)?;
    // A match inside a word is useful to a person who searches, but to a model only if there is no other match.
    let drop_parts = |hits: &mut Vec<Hit>| {
        if hits.iter().any(|hit| !hit.explanation.is_part) {
            hits.retain(|hit| !hit.explanation.is_part);
        }
    };
    let mut own = Vec::new();
    if let Some(project) = &services.project {
        let filter = Filter {
            scope: Some(Scope::Project(project.clone())),
            ..Filter::default()
        };
        own = find(&filter, *MATCH_LIMITS.start())?;
    }
    drop_parts(&mut hits);
    drop_parts(&mut own);
    let (turns, notes): (Vec<Hit>, Vec<Hit>) =
        hits.into_iter().partition(|hit| hit.explanation.is_turn);
    let (own_turns, own_notes): (Vec<Hit>, Vec<Hit>) =
        own.into_iter().partition(|hit| hit.explanation.is_turn);
    let request = RequestEvidence::of(question, now);
    let mut candidates: Vec<Hit> = own_notes.into_iter().chain(notes).collect();
    if request.asks_for_time() {
        let filter = Filter {
            category: Some(Category::Date),
            ..Filter::default()
        };
        let dated = list_newest(services, &filter, *MATCH_LIMITS.end())?;
        context.degraded = context.degraded.take().or(dated.degraded);
        let without_words = RankFeatureScore {
            part: RankFeature::Words,
            value: 0.0,
            score: 0.0,
        };
        candidates.extend(dated.hits.into_iter().map(|mut hit| {
            hit.explanation.parts.push(without_words);
            hit
        }));
    }
    let UsefulSelection { useful, omitted } = select_useful(
        services,
        candidates,
        &request,
        is_about_memories || expects_several_results(prompt),
    );
    let mut current: Vec<(f32, Hit)> = Vec::with_capacity(useful.len());
    for (usefulness, hit) in useful {
        let mut hit = hit;
        for _ in 0..MAX_VERSIONS {
            let Some(newer) = find_replacement(services, &hit.stored.memory)? else {
                break;
            };
            hit = newer;
        }
        if current
            .iter()
            .all(|(_, other)| other.stored.memory.id != hit.stored.memory.id)
        {
            current.push((usefulness, hit));
        }
    }
    for (usefulness, hit) in omitted {
        let reason = if usefulness < MIN_USEFULNESS {
            OmissionReason::Unlikely
        } else {
            OmissionReason::TooMany
        };
        context.omitted.push(OmittedMatch {
            recalled: recalled_note(&hit, usefulness),
            stored: hit.stored,
            reason,
        });
    }
    let turns = share_with_project(
        turns.into_iter().filter(is_near_enough).collect(),
        own_turns.into_iter().filter(is_near_enough).collect(),
        &|hit: &Hit| hit.stored.memory.id,
    );
    let notes = current
        .into_iter()
        .map(|(usefulness, hit)| (recalled_note(&hit, usefulness), hit.stored));
    let turns = turns
        .into_iter()
        .map(|hit| (RecalledId::from(&hit), hit.stored));
    let (ranks, given) = notes.chain(turns).unzip();
    context.ranks = ranks;
    Ok(given)
}

/// Returns a note for the recall ledger. A store that explains no score tells nothing about its usefulness.
fn recalled_note(hit: &Hit, usefulness: f32) -> RecalledId {
    let recalled = RecalledId::from(hit);
    if hit.explanation.parts.is_empty() {
        recalled
    } else {
        recalled.useful(usefulness)
    }
}

/// Every such place in the matches for a prompt is for a match of the project, while there are any.
pub(super) const PROJECT_SHARE: usize = 3;

/// Moves and adds the matches of the project so that they get a share of the places; the others keep their order.
pub(super) fn share_with_project<T, K: Eq + Hash>(
    found: Vec<T>,
    project: Vec<T>,
    key: &dyn Fn(&T) -> K,
) -> Vec<T> {
    let ours: HashSet<K> = project.iter().map(key).collect();
    let mut shared = Vec::with_capacity(found.len() + project.len());
    let (mut waiting, mut found) = (VecDeque::from(project), found.into_iter().peekable());
    let mut without = 0;
    loop {
        let is_ours = found.peek().is_some_and(|next| ours.contains(&key(next)));
        if is_ours {
            // The same match is taken from the project's own list, which has the same order.
            found.next();
            if waiting.is_empty() {
                continue;
            }
        }
        let is_due = PROJECT_SHARE - 1 <= without && !waiting.is_empty();
        let next = if is_ours || is_due {
            waiting.pop_front()
        } else {
            found.next().or_else(|| waiting.pop_front())
        };
        let Some(next) = next else { return shared };
        without = if ours.contains(&key(&next)) {
            0
        } else {
            without + 1
        };
        shared.push(next);
    }
}
