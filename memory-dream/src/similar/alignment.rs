//! Aligns the words of two texts.

use super::fingerprint::SignificantWord;

/// Maximum product of the lengths of two differing stretches; longer ones are not aligned.
const MAX_TABLE: usize = 250_000;

/// A word replaced within this distance of the start of a sentence changes its subject.
///
/// The unit is that of [`SignificantWord::place`]: the first word, or the first two characters.
const SUBJECT_DISTANCE: usize = 2;

/// A word added within this distance of the start of a sentence changes its subject.
const ADDED_SUBJECT_DISTANCE: usize = 4;

/// The differences between two texts after alignment by a longest common subsequence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Alignment {
    /// Whether words are replaced or moved.
    pub(super) replaces: bool,
    /// Number of words that are in one text only.
    pub(super) added: usize,
    /// Whether the subject of a sentence may differ.
    pub(super) touches_subject: bool,
}

impl Alignment {
    /// Aligns two texts; their order does not matter.
    pub(super) fn of(one: &[SignificantWord], other: &[SignificantWord]) -> Self {
        // One of several alignments is found; sorting makes it independent of the order of the arguments.
        let keys = |pieces: &[SignificantWord]| -> Vec<u64> { pieces.iter().map(|piece| piece.key).collect() };
        let (one, other) = if (keys(one), one) <= (keys(other), other) { (one, other) } else { (other, one) };
        let is_equal = |(own, other): &(&SignificantWord, &SignificantWord)| own.key == other.key;
        let before = one.iter().zip(other).take_while(is_equal).count();
        let (one, other) = (&one[before..], &other[before..]);
        let after = one.iter().rev().zip(other.iter().rev()).take_while(is_equal).count();
        let (one, other) = (&one[..one.len() - after], &other[..other.len() - after]);
        if MAX_TABLE < one.len() * other.len() {
            return Self { replaces: true, added: one.len() + other.len(), touches_subject: true };
        }
        let mut found = Self::default();
        let mut sides = [false; 2];
        for (one, other) in alignment_gaps(one, other) {
            let limit = if one.is_empty() || other.is_empty() { ADDED_SUBJECT_DISTANCE } else { SUBJECT_DISTANCE };
            found.replaces |= limit == SUBJECT_DISTANCE;
            found.added += one.len() + other.len();
            found.touches_subject |= one.iter().chain(other).any(|piece| piece.place < limit);
            sides = [sides[0] | !one.is_empty(), sides[1] | !other.is_empty()];
        }
        found.replaces |= sides == [true; 2];
        found
    }
}

/// Returns the gaps between the words of a longest common subsequence.
fn alignment_gaps<'p>(
    one: &'p [SignificantWord],
    other: &'p [SignificantWord],
) -> Vec<(&'p [SignificantWord], &'p [SignificantWord])> {
    let width = other.len() + 1;
    // Length of the longest common subsequence of the suffixes from each pair of positions.
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
