//! Finds memories that contradict each other.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use memory_core::MemoryId;

use super::claim::{ClaimValueKind, SentenceClaim, key};
use super::report::TruncatedList;
use super::reviewed_memory::ReviewedMemory;

/// Two memories of one scope that contradict each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The earlier claim; if the times are equal, that of the memory with the lower id.
    pub older: ContradictionSide,
    /// The later claim.
    pub newer: ContradictionSide,
    /// The kind of contradiction.
    pub difference: ContradictionKind,
    /// The estimated probability that at most one of the claims holds, from 0.5 to 1.
    pub confidence: f32,
    /// Whether the supersession needs no confirmation: the newer memory itself declares a change.
    pub is_certain: bool,
}

impl Contradiction {
    /// Returns the supersession to record without confirmation, if the contradiction is certain.
    pub fn supersession(&self) -> Option<Supersession> {
        let valid_until = self.newer.created_at;
        self.is_certain.then_some(Supersession {
            of: self.older.id,
            valid_until,
            superseded_by: self.newer.id,
        })
    }
}

/// The fact that one memory supersedes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supersession {
    /// The outdated memory.
    pub of: MemoryId,
    /// The end of its validity.
    pub valid_until: DateTime<Utc>,
    /// The memory that supersedes it.
    pub superseded_by: MemoryId,
}

/// One of two contradicting memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContradictionSide {
    /// The memory.
    pub id: MemoryId,
    /// The headline of the memory.
    pub headline: String,
    /// The text of the memory.
    pub text: String,
    /// The sentence that makes the claim.
    pub sentence: String,
    /// The creation time of the memory.
    pub created_at: DateTime<Utc>,
    /// The start of its validity; if unknown, its creation time.
    pub said_at: DateTime<Utc>,
}

/// The kind of contradiction between two sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContradictionKind {
    /// One sentence names the value of the other as replaced.
    Replaced,
    /// One sentence negates the other.
    Denied,
    /// Their values differ where only one can hold.
    Other,
}

/// Number of later claims in a bucket that each claim is compared with.
const MAX_COMPARED: usize = 6;

/// Two claims that contradict each other.
#[derive(Debug, Clone, Copy)]
struct ContradictingPair<'s> {
    older: (&'s ReviewedMemory, &'s SentenceClaim),
    newer: (&'s ReviewedMemory, &'s SentenceClaim),
    difference: ContradictionKind,
    confidence: f32,
    is_certain: bool,
}

/// Returns the first `most` pairs: the certain ones, then those with the highest confidence.
pub(super) fn find_contradictions(
    seen: &[ReviewedMemory],
    most: usize,
) -> TruncatedList<Contradiction> {
    let claims: Vec<(&ReviewedMemory, &SentenceClaim)> = seen
        .iter()
        .flat_map(|own| own.claims.iter().map(move |claim| (own, claim)))
        .collect();
    let mut buckets: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, (own, claim)) in claims.iter().enumerate() {
        for bucket in claim.bucket_keys() {
            buckets
                .entry(key("scope", &(&own.scope, bucket)))
                .or_default()
                .push(number);
        }
    }
    let mut pairs: HashMap<(MemoryId, MemoryId), ContradictingPair<'_>> = HashMap::new();
    for bucket in buckets.values_mut() {
        bucket.sort_by_key(|number| {
            (
                claim_order(claims[*number].0),
                claims[*number].1.sentence.start,
            )
        });
        for (at, one) in bucket.iter().enumerate() {
            for other in bucket[at + 1..].iter().take(MAX_COMPARED) {
                let (older, newer) = (claims[*one], claims[*other]);
                if older.0.id == newer.0.id || newer.0.supersedes.contains(&older.0.id) {
                    continue;
                }
                let Some(found) = compare_claims(older, newer) else {
                    continue;
                };
                let best = pairs.entry((older.0.id, newer.0.id)).or_insert(found);
                if compare_pairs(&found, best) == Ordering::Less {
                    *best = found;
                }
            }
        }
    }
    let mut found: Vec<_> = pairs.into_values().collect();
    keep_first_certain(&mut found);
    found.sort_by(compare_pairs);
    let left_out = found.len().saturating_sub(most);
    TruncatedList {
        first: found.iter().take(most).map(to_contradiction).collect(),
        left_out,
    }
}

fn claim_order(own: &ReviewedMemory) -> (DateTime<Utc>, DateTime<Utc>, MemoryId) {
    (own.said_at, own.created_at, own.id)
}

fn compare_pairs(one: &ContradictingPair<'_>, other: &ContradictingPair<'_>) -> Ordering {
    let certain = other.is_certain.cmp(&one.is_certain);
    let place = |(own, claim): (&ReviewedMemory, &SentenceClaim)| (own.id, claim.sentence.start);
    let tie = |own: &ContradictingPair<'_>| (place(own.older), place(own.newer), own.difference);
    certain
        .then(other.confidence.total_cmp(&one.confidence))
        .then_with(|| tie(one).cmp(&tie(other)))
}

/// A memory is superseded only once, by the first memory that contradicts it with certainty.
fn keep_first_certain(found: &mut [ContradictingPair<'_>]) {
    found.sort_by_key(|own| (claim_order(own.newer.0), own.older.0.id));
    let mut superseded = HashSet::new();
    for own in found.iter_mut().filter(|own| own.is_certain) {
        own.is_certain = superseded.insert(own.older.0.id);
    }
}

fn compare_claims<'s>(
    older: (&'s ReviewedMemory, &'s SentenceClaim),
    newer: (&'s ReviewedMemory, &'s SentenceClaim),
) -> Option<ContradictingPair<'s>> {
    let (old, new) = (older.1, newer.1);
    if old.subject != new.subject {
        return None;
    }
    let is_of_same = old.verb == new.verb && old.purpose == new.purpose;
    let is_denied = is_of_same && old.value == new.value && old.is_denied != new.is_denied;
    let is_replaced =
        new.from == Some(old.value) && !old.is_denied && new.is_turn && old.may_be_replaced;
    let is_other = is_of_same && old.value != new.value && !old.is_denied && !new.is_denied;
    let are_alike = old.kind == new.kind && old.kind != ClaimValueKind::Word;
    let are_words = old.kind == ClaimValueKind::Word && new.kind == ClaimValueKind::Word;
    let (difference, confidence, may_be_certain) = if is_replaced {
        (ContradictionKind::Replaced, 0.9, new.purpose == old.purpose)
    } else if is_denied {
        (ContradictionKind::Denied, 0.8, true)
    } else if is_other && new.is_only && old.is_only {
        (
            ContradictionKind::Other,
            if are_alike { 0.75 } else { 0.6 },
            are_alike || new.is_sure,
        )
    } else if is_other && new.is_attribute && old.is_attribute && (are_alike || are_words) {
        (
            ContradictionKind::Other,
            if are_alike { 0.75 } else { 0.5 },
            are_alike,
        )
    } else if is_other && old.head == new.head && old.head != 0 {
        (ContradictionKind::Other, 0.5, false)
    } else {
        return None;
    };
    let is_later = older.0.said_at < newer.0.said_at && older.0.created_at < newer.0.created_at;
    // If the older memory has other sentences, they may still be true.
    let is_certain = may_be_certain
        && new.is_turn
        && is_later
        && old.is_all
        && old.is_named
        && new.is_named
        && !older.0.is_pinned;
    let confidence = if new.is_turn {
        f32::max(confidence, 0.9)
    } else {
        confidence
    };
    Some(ContradictingPair {
        older,
        newer,
        difference,
        confidence,
        is_certain,
    })
}

fn to_contradiction(pair: &ContradictingPair<'_>) -> Contradiction {
    let ContradictingPair {
        older,
        newer,
        difference,
        confidence,
        is_certain,
    } = *pair;
    Contradiction {
        older: to_side(older),
        newer: to_side(newer),
        difference,
        confidence,
        is_certain,
    }
}

fn to_side((own, claim): (&ReviewedMemory, &SentenceClaim)) -> ContradictionSide {
    ContradictionSide {
        id: own.id,
        headline: own.headline.clone(),
        text: own.text.clone(),
        sentence: own.text[claim.sentence.clone()].to_owned(),
        created_at: own.created_at,
        said_at: own.said_at,
    }
}
