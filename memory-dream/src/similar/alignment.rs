//! Which words of two texts stand for each other.

use super::reading::Piece;

/// Longer stretches in which two texts differ are not aligned: the product of their lengths.
const LARGEST_TABLE: usize = 250_000;

/// A word that replaces another is what a sentence is about if less than this is before it: the first word, or two characters.
const SUBJECT: usize = 2;

/// A word that is added changes what a sentence is about if less than this is before it.
const NEAR_SUBJECT: usize = 4;

/// In what two texts differ once all words that they share in the same order are set against each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Alignment {
    /// Whether words of one stand for words of the other, or in another place.
    pub(super) replaces: bool,
    /// How many words are in one of them only.
    pub(super) added: usize,
    /// Whether what a sentence is about may have changed.
    pub(super) touches_subject: bool,
}

impl Alignment {
    /// Aligns two texts; their order does not matter.
    pub(super) fn of(one: &[Piece], other: &[Piece]) -> Self {
        // Of several ways to align them one is found, which must not depend on the order.
        let keys = |pieces: &[Piece]| -> Vec<u64> { pieces.iter().map(|piece| piece.key).collect() };
        let (one, other) = if (keys(one), one) <= (keys(other), other) { (one, other) } else { (other, one) };
        let is_equal = |(own, other): &(&Piece, &Piece)| own.key == other.key;
        let before = one.iter().zip(other).take_while(is_equal).count();
        let (one, other) = (&one[before..], &other[before..]);
        let after = one.iter().rev().zip(other.iter().rev()).take_while(is_equal).count();
        let (one, other) = (&one[..one.len() - after], &other[..other.len() - after]);
        if LARGEST_TABLE < one.len() * other.len() {
            return Self { replaces: true, added: one.len() + other.len(), touches_subject: true };
        }
        let mut found = Self::default();
        let mut sides = [false; 2];
        for (one, other) in gaps(one, other) {
            let limit = if one.is_empty() || other.is_empty() { NEAR_SUBJECT } else { SUBJECT };
            found.replaces |= limit == SUBJECT;
            found.added += one.len() + other.len();
            found.touches_subject |= one.iter().chain(other).any(|piece| piece.place < limit);
            sides = [sides[0] | !one.is_empty(), sides[1] | !other.is_empty()];
        }
        found.replaces |= sides == [true; 2];
        found
    }
}

/// Returns what stands between the words of a longest common subsequence.
fn gaps<'p>(one: &'p [Piece], other: &'p [Piece]) -> Vec<(&'p [Piece], &'p [Piece])> {
    let width = other.len() + 1;
    // How many words the rests from each pair of places on have in common.
    let mut common = vec![0_u32; (one.len() + 1) * width];
    for (row, own) in one.iter().enumerate().rev() {
        for (column, theirs) in other.iter().enumerate().rev() {
            common[row * width + column] = if own.key == theirs.key {
                common[(row + 1) * width + column + 1] + 1
            } else {
                common[(row + 1) * width + column].max(common[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let (mut row_start, mut column_start) = (0, 0);
    let mut gaps = Vec::new();
    while row < one.len() && column < other.len() {
        if one[row].key == other[column].key {
            gaps.push((&one[row_start..row], &other[column_start..column]));
            (row, column) = (row + 1, column + 1);
            (row_start, column_start) = (row, column);
        } else if common[row * width + column + 1] <= common[(row + 1) * width + column] {
            row += 1;
        } else {
            column += 1;
        }
    }
    gaps.push((&one[row_start..], &other[column_start..]));
    gaps.retain(|(one, other)| !one.is_empty() || !other.is_empty());
    gaps
}
