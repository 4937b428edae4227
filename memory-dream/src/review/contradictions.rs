//! Finds memories that contradict each other.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use memory_core::conversation::{contradicts, denies};
use memory_core::{Memory, MemoryId, replaces_note};

use super::report::TruncatedList;
use super::reviewed_memory::ReviewedMemory;

/// Two memories of one scope that contradict each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The earlier statement; if the times are equal, that of the memory with the lower id.
    pub older: ContradictionSide,
    /// The later statement.
    pub newer: ContradictionSide,
    /// Whether the supersession needs no confirmation: the newer memory states the change, see [`replaces_note()`], and denies the
    /// older one, see [`denies()`].
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

    /// The estimated probability that at most one of the statements holds: 0.9 if it is certain, otherwise 0.5.
    pub fn confidence(&self) -> f32 {
        if self.is_certain { 0.9 } else { 0.5 }
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
    /// The creation time of the memory.
    pub created_at: DateTime<Utc>,
    /// The start of its validity; if unknown, its creation time.
    pub said_at: DateTime<Utc>,
}

/// Number of the rarest words of each memory by which later memories are found, and of the memories that each of them finds.
const COMPARED: (usize, usize) = (4, 25);

/// The share of the words of the older memory that the newer one repeats.
const REPEATED: (usize, usize) = (2, 5);

/// Returns the first `most` contradictions: the certain ones, then the others.
pub(super) fn find_contradictions(
    seen: &[ReviewedMemory],
    most: usize,
) -> TruncatedList<Contradiction> {
    let mut statements: Vec<&ReviewedMemory> =
        seen.iter().filter(|own| own.statement.is_some()).collect();
    statements.sort_by_key(|own| order(own));
    let mut with_word: HashMap<_, Vec<usize>> = HashMap::new();
    for (number, own) in statements.iter().enumerate() {
        for word in &own.words {
            with_word
                .entry((&own.scope, *word))
                .or_default()
                .push(number);
        }
    }
    let mut found = Vec::new();
    for (number, older) in statements.iter().enumerate() {
        let mut buckets: Vec<&Vec<usize>> = older
            .words
            .iter()
            .map(|word| &with_word[&(&older.scope, *word)])
            .filter(|bucket| 1 < bucket.len())
            .collect();
        buckets.sort_by_key(|bucket| bucket.len());
        let later = buckets.into_iter().take(COMPARED.0).flat_map(|bucket| {
            let next = bucket.partition_point(|other| *other <= number);
            bucket[next..].iter().take(COMPARED.1)
        });
        let later: BTreeSet<usize> = later.copied().collect();
        found.extend(
            later
                .into_iter()
                .filter_map(|newer| compare(older, statements[newer])),
        );
    }
    keep_first_certain(&mut found);
    found.sort_by(compare_pairs);
    TruncatedList::of(found, most)
}

fn order(own: &ReviewedMemory) -> (DateTime<Utc>, DateTime<Utc>, MemoryId) {
    (own.said_at, own.created_at, own.id)
}

fn compare_pairs(one: &Contradiction, other: &Contradiction) -> Ordering {
    let certain = other.is_certain.cmp(&one.is_certain);
    let ids = |own: &Contradiction| (own.older.id, own.newer.id);
    certain.then_with(|| ids(one).cmp(&ids(other)))
}

/// A memory is superseded only once, by the first memory that contradicts it with certainty.
fn keep_first_certain(found: &mut [Contradiction]) {
    found.sort_by_key(|own| {
        let newer = &own.newer;
        (newer.said_at, newer.created_at, newer.id, own.older.id)
    });
    let mut superseded = HashSet::new();
    for own in found.iter_mut().filter(|own| own.is_certain) {
        own.is_certain = superseded.insert(own.older.id);
    }
}

fn compare(older: &ReviewedMemory, newer: &ReviewedMemory) -> Option<Contradiction> {
    let repeated = older.words.iter().filter(|word| newer.words.contains(word));
    let is_same_subject = REPEATED.0 * older.words.len() <= REPEATED.1 * repeated.count();
    if !is_same_subject || newer.supersedes.contains(&older.id) {
        return None;
    }
    let (old, new): (&Memory, &Memory) = (older.statement.as_ref()?, newer.statement.as_ref()?);
    let is_later = older.said_at < newer.said_at && older.created_at < newer.created_at;
    let is_replaced = is_later && replaces_note(new, old);
    let differs =
        || contradicts(&new.content, &old.content) || contradicts(&old.content, &new.content);
    (is_replaced || differs()).then(|| Contradiction {
        is_certain: is_replaced && denies(&new.content, &old.content),
        older: to_side(older, old),
        newer: to_side(newer, new),
    })
}

fn to_side(own: &ReviewedMemory, statement: &Memory) -> ContradictionSide {
    ContradictionSide {
        id: own.id,
        headline: own.headline.clone(),
        text: statement.content.clone(),
        created_at: own.created_at,
        said_at: own.said_at,
    }
}
