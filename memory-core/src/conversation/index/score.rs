//! Scores the relevance of entries to a query on an absolute scale.
//!
//! Relevance is between 0 and 1, so that a threshold has the same meaning in every conversation. The word relevance is the share of the
//! query that an entry contains, with a higher weight for rare words, raised by the share of the entry that the query contains. The vector
//! relevance grows with the cosine. The combined relevance is never below either of them.
//!
//! Word frequencies are counted in statements. A word that no statement contains, and a word that only frames a request, have a low weight.
//! So a fact about a dog matches `Write a poem about my dog`, regardless of the length and the repetitions of the request.

use std::cmp::Ordering;

use super::super::{
    ConversationEntry, EntryRole, RecallCandidate, RecallMatchKind, RecallQuery, RecallTerm,
};
use super::ConversationIndex;
use super::slots::{EntrySlot, RecencyKey};
use crate::embedder::cosine;
use crate::rank::{B, idf_share, saturation};
use crate::text::Term;

/// The weight of a word that no statement contains; a word of a single statement has the weight 1.
///
/// The total weight of several such words grows with the square root of their number: no entry can contain them, and a long request may
/// have the same subject as a short one.
const UNKNOWN_WORD_WEIGHT: f32 = 0.25;

/// The number of virtual statements without any of the words.
///
/// They prevent that a word counts as common in a small conversation.
const VIRTUAL_STATEMENTS: u64 = 10;

/// The minimum average length of a statement, in words.
///
/// A word in an entry up to the average length has full weight.
const MIN_AVERAGE_LENGTH: f32 = 40.0;

/// The share of the missing relevance that is added if the query contains every word of an entry.
const COVERAGE_BONUS: f32 = 0.5;

/// The minimum share of the matched weight that must be in statements.
///
/// Below it the entry counts as a request.
const MIN_STATED_SHARE: f32 = 0.5;

/// The cosine of unrelated texts, and the cosine of equivalent texts.
const COSINE_RANGE: [f32; 2] = [0.15, 0.75];

/// Returns the best `limit` statements that match `of`, best first, then the best `limit` other turns.
pub(super) fn rank_candidates(
    shelf: &ConversationIndex,
    wanted: &RecallQuery<'_>,
    limit: usize,
    of: &dyn Fn(&ConversationEntry) -> bool,
) -> Vec<RecallCandidate> {
    let words = match_words(shelf, wanted);
    let (mut statements, mut others) = (Vec::new(), Vec::new());
    for (number, slot) in shelf.slots.iter() {
        let near = wanted
            .vector
            .zip(slot.vector.as_deref())
            .map_or(0.0, |(one, other)| cosine_relevance(cosine(one, other)));
        let share = words.get(number).copied().unwrap_or_default();
        let is_stated = 0 < slot.stated && MIN_STATED_SHARE * share.all.asked <= share.stated.asked;
        let own = if is_stated {
            add_coverage_bonus(share.stated, slot.stated)
        } else {
            add_coverage_bonus(share.all, slot.distinct)
        };
        let relevance = own + near - own * near;
        let kind = match_kind(slot, is_stated);
        // A request with all of its words in the message adds no information.
        let is_repeated = kind == RecallMatchKind::Request && slot.distinct <= share.all.words;
        if 0.0 < relevance && !is_repeated {
            let found = ScoredEntry {
                relevance,
                rank: slot.rank,
                slot,
                kind,
            };
            if is_stated {
                statements.push(found);
            } else {
                others.push(found);
            }
        }
    }
    let mut candidates = top_candidates(shelf, &mut statements, limit, of);
    candidates.append(&mut top_candidates(shelf, &mut others, limit, of));
    candidates
}

fn match_kind(slot: &EntrySlot, is_stated: bool) -> RecallMatchKind {
    match slot.entry.role {
        _ if is_stated => RecallMatchKind::Statement,
        EntryRole::Assistant => RecallMatchKind::Answer,
        _ => RecallMatchKind::Request,
    }
}

/// Returns the best `limit` matches of `of`, best first.
fn top_candidates(
    shelf: &ConversationIndex,
    found: &mut [ScoredEntry<'_>],
    limit: usize,
    of: &dyn Fn(&ConversationEntry) -> bool,
) -> Vec<RecallCandidate> {
    let mut candidates = Vec::new();
    let mut rest = found;
    // Few entries are excluded, so only a prefix is sorted. It doubles each time, to bound the number of rounds.
    let mut portion = limit;
    while candidates.len() < limit && !rest.is_empty() {
        if portion < rest.len() {
            rest.select_nth_unstable_by(portion, ScoredEntry::compare);
        }
        let (best, others) = rest.split_at_mut(portion.min(rest.len()));
        best.sort_unstable_by(ScoredEntry::compare);
        let lacking = limit - candidates.len();
        candidates.extend(
            best.iter()
                .filter(|found| of(&found.slot.entry))
                .take(lacking)
                .map(|found| found.to_candidate(shelf)),
        );
        rest = others;
        portion = portion.saturating_mul(2);
    }
    candidates
}

/// A matching entry with its relevance.
struct ScoredEntry<'s> {
    relevance: f32,
    rank: RecencyKey,
    slot: &'s EntrySlot,
    kind: RecallMatchKind,
}

impl ScoredEntry<'_> {
    fn compare(&self, other: &Self) -> Ordering {
        let ids = || self.slot.entry.id.cmp(&other.slot.entry.id);
        other
            .relevance
            .total_cmp(&self.relevance)
            .then_with(|| self.rank.cmp(&other.rank))
            .then_with(ids)
    }

    fn to_candidate(&self, conversation: &ConversationIndex) -> RecallCandidate {
        conversation.candidate(self.slot, self.kind, self.relevance)
    }
}

/// The matches of the query words in one entry.
#[derive(Debug, Clone, Copy, Default)]
struct EntryMatches {
    all: QueryMatch,
    /// The matches in statements.
    stated: QueryMatch,
}

#[derive(Debug, Clone, Copy, Default)]
struct QueryMatch {
    /// The matched share of the query, from 0 to 1.
    asked: f32,
    /// The number of distinct matched words.
    words: u32,
}

impl QueryMatch {
    fn add(&mut self, worth: f32) {
        self.asked += worth;
        self.words += 1;
    }
}

/// Returns the word matches of each slot; empty if no word matches.
fn match_words(shelf: &ConversationIndex, wanted: &RecallQuery<'_>) -> Vec<EntryMatches> {
    let postings = |term: &Term| shelf.words.get(term);
    let worths = term_weights(shelf, wanted);
    let whole: f32 = worths.iter().sum();
    if whole <= 0.0
        || wanted
            .terms
            .iter()
            .all(|wanted| postings(&wanted.term).is_none())
    {
        return Vec::new();
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "no average needs so many digits"
    )]
    let average = shelf.stated_length as f32 / shelf.statements.size().max(1) as f32;
    let mut shares = vec![EntryMatches::default(); shelf.slots.slot_count()];
    for (wanted, worth) in wanted.terms.iter().zip(worths) {
        for place in postings(&wanted.term)
            .into_iter()
            .flat_map(|postings| postings.places.iter())
        {
            // One occurrence in a text of average length has full weight.
            let strength = saturation(
                place.count.into(),
                place.length.into(),
                average.max(MIN_AVERAGE_LENGTH),
                B,
            );
            let worth = worth / whole * strength.min(1.0);
            let shares = &mut shares[place.number as usize];
            shares.all.add(worth);
            if place.is_stated {
                shares.stated.add(worth);
            }
        }
    }
    shares
}

/// Returns the weight of each word of a query.
fn term_weights(shelf: &ConversationIndex, wanted: &RecallQuery<'_>) -> Vec<f32> {
    // A stored copy of the query itself does not count towards the frequency of its words.
    let is_copied = wanted
        .statement
        .is_some_and(|statement| shelf.statements.get(&statement).is_some());
    let documents = (shelf.statements.size() as u64).saturating_sub(u64::from(is_copied));
    let heard = |term: &Term| {
        let heard = shelf
            .words
            .get(term)
            .map_or(0, |postings| postings.statements);
        u64::from(heard).saturating_sub(u64::from(is_copied))
    };
    let counts: Vec<u64> = wanted
        .terms
        .iter()
        .map(|own| if own.is_framing { 0 } else { heard(&own.term) })
        .collect();
    let is_unheard = |count: &u64| *count == 0;
    let lacking = wanted
        .terms
        .iter()
        .zip(&counts)
        .filter(|(own, count)| is_unheard(count) && !own.is_optional);
    let unheard: f32 = lacking.map(|(own, _)| own.weight).sum();
    let each = UNKNOWN_WORD_WEIGHT / unheard.max(1.0).sqrt();
    let worth = |(own, count): (&RecallTerm, &u64)| {
        if is_unheard(count) && own.is_optional {
            return 0.0;
        }
        own.weight
            * if is_unheard(count) {
                each
            } else {
                idf_share(documents + VIRTUAL_STATEMENTS, *count)
            }
    };
    wanted.terms.iter().zip(&counts).map(worth).collect()
}

fn add_coverage_bonus(share: QueryMatch, distinct: u32) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "no text has so many words that it matters"
    )]
    let returned = share.words as f32 / distinct.max(1) as f32;
    let asked = share.asked.min(1.0);
    asked + (1.0 - asked) * COVERAGE_BONUS * returned.min(1.0) * asked.sqrt()
}

fn cosine_relevance(cosine: f32) -> f32 {
    let [nothing, same] = COSINE_RANGE;
    ((cosine - nothing) / (same - nothing)).clamp(0.0, 1.0)
}
