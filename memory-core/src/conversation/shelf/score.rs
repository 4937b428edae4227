//! How well entries answer, on a scale of its own.
//!
//! Relevance lies between 0 and 1, so that a threshold means the same in every conversation. By words it is the share of the question
//! that an entry answers, where rare words count for more, raised by the share of the entry that the question is about; by vectors, it
//! grows with the cosine. Neither of them takes from the other: what either finds relevant is.

use std::cmp::Ordering;
use std::sync::Arc;

use super::super::{Candidate, Entry, Wanted};
use super::Shelf;
use super::slots::{Rank, Slot};
use crate::rank::{idf_share, saturation};
use crate::text::{Term, TokenKind};

/// So much does a word count that no entry has, of what one counts that a single entry has: what nobody talked of cannot be answered.
const UNHEARD: f32 = 0.25;

/// So much does a single character count of a script without blanks, of what a pair of them counts.
const CHARACTER: f32 = 0.25;

/// So much of what is missing to the whole does it give if the question holds every word of an entry.
const RETURNED: f32 = 0.5;

/// The cosine at which texts have nothing to do with each other, and at which they say the same.
const COSINES: [f32; 2] = [0.15, 0.75];

/// Returns the best `limit` entries `of` a kind, best first.
pub(super) fn best(shelf: &Shelf, wanted: &Wanted<'_>, limit: usize, of: &dyn Fn(&Entry) -> bool) -> Vec<Candidate> {
    let words = by_words(shelf, wanted);
    let mut found: Vec<Found<'_>> = Vec::new();
    for (number, slot) in shelf.slots.iter() {
        let near = wanted.vector.zip(slot.vector.as_deref()).map_or(0.0, |(one, other)| nearness(cosine(one, other)));
        let words = words.get(number).map_or(0.0, |share| raised(*share, slot));
        let relevance = words + near - words * near;
        if 0.0 < relevance {
            found.push(Found { relevance, rank: slot.rank, slot });
        }
    }
    let mut candidates = Vec::new();
    let mut rest = found.as_mut_slice();
    // Few are left out, so few are put in order; each time twice as many, or those that are left out would be looked at again and again.
    let mut portion = limit;
    while candidates.len() < limit && !rest.is_empty() {
        if portion < rest.len() {
            rest.select_nth_unstable_by(portion, Found::order);
        }
        let (best, others) = rest.split_at_mut(portion.min(rest.len()));
        best.sort_unstable_by(Found::order);
        let lacking = limit - candidates.len();
        candidates.extend(best.iter().filter(|found| of(&found.slot.entry)).take(lacking).map(Found::candidate));
        rest = others;
        portion = portion.saturating_mul(2);
    }
    candidates
}

/// An entry that answers, and how well.
struct Found<'s> {
    relevance: f32,
    rank: Rank,
    slot: &'s Slot,
}

impl Found<'_> {
    fn order(&self, other: &Self) -> Ordering {
        let ids = || self.slot.entry.id.cmp(&other.slot.entry.id);
        other.relevance.total_cmp(&self.relevance).then_with(|| self.rank.cmp(&other.rank)).then_with(ids)
    }

    fn candidate(&self) -> Candidate {
        Candidate { entry: Arc::clone(&self.slot.entry), relevance: self.relevance, vector: self.slot.vector.clone() }
    }
}

/// What the words of a question find in one entry.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    /// Of the question, from 0 to 1.
    asked: f32,
    /// How many different words.
    words: u32,
}

/// Returns what the words find in each slot; nothing if they find nothing at all.
fn by_words(shelf: &Shelf, wanted: &Wanted<'_>) -> Vec<Share> {
    let documents = shelf.numbers.size() as u64;
    let places = |term: &Term| shelf.words.get(term);
    let worth = |term: &Term| {
        let heard = places(term).map_or(0, |places| places.len()) as u64;
        let kind = if term.kind == TokenKind::Character { CHARACTER } else { 1.0 };
        kind * if heard == 0 { UNHEARD } else { idf_share(documents, heard) }
    };
    let whole: f32 = wanted.terms.iter().map(worth).sum();
    if whole <= 0.0 || wanted.terms.iter().all(|term| places(term).is_none()) {
        return Vec::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "no average needs so many digits")]
    let average = shelf.length as f32 / documents.max(1) as f32;
    let mut shares = vec![Share::default(); shelf.slots.numbers()];
    for term in &wanted.terms {
        let worth = worth(term) / whole;
        for place in places(term).into_iter().flat_map(|places| places.iter()) {
            // Once in a text of average length is all of it.
            let strength = saturation(place.count.into(), place.length.into(), average);
            let share = &mut shares[place.number as usize];
            share.asked += worth * strength.min(1.0);
            share.words += 1;
        }
    }
    shares
}

fn raised(share: Share, slot: &Slot) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "no text has so many words that it matters")]
    let returned = share.words as f32 / slot.distinct.max(1) as f32;
    let asked = share.asked.min(1.0);
    asked + (1.0 - asked) * RETURNED * returned.min(1.0) * asked.sqrt()
}

fn nearness(cosine: f32) -> f32 {
    let [nothing, same] = COSINES;
    ((cosine - nothing) / (same - nothing)).clamp(0.0, 1.0)
}

/// Returns the cosine of two vectors of length 1; of vectors of two models, 0.
pub(in crate::conversation) fn cosine(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    // Eight sums at a time, which the compiler makes one instruction of.
    let mut sums = [0.0_f32; 8];
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f32 = ones.remainder().iter().zip(others.remainder()).map(|(left, right)| left * right).sum();
    for (left, right) in ones.zip(others) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}
