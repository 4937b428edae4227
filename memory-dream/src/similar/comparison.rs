//! Compares two texts, word by word.

use super::fingerprint::{SignificantWord, TextFingerprint, WordEffect};

/// Minimum number of words; a shorter text is a duplicate only of an equal text.
const MIN_WORDS: usize = 4;

/// Minimum number of significant words in the shorter text for an addition to count as a detail.
const MIN_SIGNIFICANT_WORDS: usize = 8;

/// Number of significant words for which one added word counts as a detail.
const WORDS_PER_DETAIL: usize = 10;

/// Minimum Jaccard similarity of texts that differ in a detail.
const MIN_JACCARD: f32 = 0.8;

/// The similarity of two texts, and their differences.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSimilarity {
    /// The Jaccard similarity of their shingles, from 0 to 1.
    pub jaccard: f32,
    /// The share of the shingles of the text with fewer shingles that the other contains, from 0 to 1.
    pub containment: f32,
    /// Whether they are equal except for case, width, accents, whitespace and final punctuation.
    pub is_same: bool,
    /// Whether one contains every sentence of the other, under the same heading if there is one.
    pub is_contained: bool,
    /// Whether one of them is too short for a comparison.
    pub is_short: bool,
    /// The other differences, sorted and without duplicates.
    pub differences: Vec<TextDifference>,
}

/// A kind of difference between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextDifference {
    /// A number, a time or a version.
    Number,
    /// A day or a month, or a word such as `still`.
    Date,
    /// A negation or a restriction.
    Negation,
    /// A word that has an opposite, such as `on` or `before`.
    Opposite,
    /// A quantity or a frequency.
    Amount,
    /// The mood or tense: must, may, will or did.
    Mood,
    /// A person, such as a pronoun or a relative.
    Person,
    /// A name.
    Name,
    /// Code.
    Code,
    /// An address, a path, an identifier or a link.
    Literal,
    /// The start of a sentence.
    Subject,
    /// Replaced or moved words.
    Words,
    /// An addition of several words, or to a short text.
    More,
    /// A short addition to a long text.
    Detail,
}

impl TextSimilarity {
    /// Returns whether the texts are duplicates that can be merged; false in case of doubt.
    ///
    /// A difference in a number, a date, a negation, an opposite, a name, code or the subject of a sentence is decisive, however high the
    /// similarity is. A similar meaning is no evidence: texts that state opposites have cosines as high as duplicates (0.95 against 0.91 in
    /// the median of the labelled pairs of the tests).
    pub fn is_duplicate(&self) -> bool {
        if self.is_same {
            return true;
        }
        if self.is_short {
            return false;
        }
        self.is_contained
            || match self.differences.as_slice() {
                [] => true,
                [TextDifference::Detail] => MIN_JACCARD <= self.jaccard,
                _ => false,
            }
    }
}

/// Compares two texts; their order does not matter.
///
/// ```
/// use memory_dream::similar::{TextDifference, compare_texts};
///
/// assert!(compare_texts("The port of the proxy is 8080", "the port of the proxy is: 8080.").is_duplicate());
/// let other = compare_texts("The port of the proxy is 8080", "The port of the proxy is 8081");
/// assert_eq!(other.differences, [TextDifference::Number, TextDifference::Words]);
/// assert!(!other.is_duplicate());
/// ```
pub fn compare_texts(one: &str, other: &str) -> TextSimilarity {
    TextFingerprint::of(one).compare(&TextFingerprint::of(other))
}

impl TextFingerprint {
    /// Compares the texts as [`compare_texts`] does.
    #[expect(
        clippy::cast_precision_loss,
        reason = "no text has so many shingles that it matters"
    )]
    pub fn compare(&self, other: &Self) -> TextSimilarity {
        let common = count_common(&self.shingles, &other.shingles);
        let (own, others) = (self.shingles.len(), other.shingles.len());
        TextSimilarity {
            jaccard: common as f32 / (own + others - common).max(1) as f32,
            containment: common as f32 / own.min(others).max(1) as f32,
            is_same: self.whole == other.whole && self.code == other.code,
            is_contained: self.is_contained_in(other) || other.is_contained_in(self),
            is_short: self.words.min(other.words) < MIN_WORDS,
            differences: self.differences(other),
        }
    }

    /// Returns the result of [`TextSimilarity::is_duplicate`], but faster for texts that are not duplicates.
    pub fn is_duplicate_of(&self, other: &Self) -> bool {
        let differ = (&self.numbers, &self.marks, self.code, &self.literals)
            != (&other.numbers, &other.marks, other.code, &other.literals);
        let may_be = !differ
            || self.whole == other.whole
            || self.is_contained_in(other)
            || other.is_contained_in(self);
        may_be && self.compare(other).is_duplicate()
    }

    /// Returns whether one text contains every sentence of the other, unchanged, under the same heading and in the same order.
    ///
    /// Case outside of code, width, white space and final punctuation do not matter.
    pub fn contains_in_order(&self, other: &Self) -> bool {
        let (short, long) = if self.statements.len() <= other.statements.len() {
            (&self.statements, &other.statements)
        } else {
            (&other.statements, &self.statements)
        };
        let mut rest = long.iter();
        !short.is_empty() && short.iter().all(|said| rest.any(|own| own == said))
    }

    /// Returns whether every sentence of this text is in the other.
    fn is_contained_in(&self, other: &Self) -> bool {
        let anywhere = |key: &u64| {
            let start = other.sentences.partition_point(|(own, _)| own < key);
            other
                .sentences
                .get(start)
                .is_some_and(|(own, _)| own == key)
        };
        let says = |said: &(u64, Option<u64>)| match said.1 {
            Some(_) => other.sentences.binary_search(said).is_ok(),
            None => anywhere(&said.0),
        };
        self.sentences.iter().all(says)
    }

    fn differences(&self, other: &Self) -> Vec<TextDifference> {
        let marked = |reading: &Self, wanted: WordEffect| -> Vec<u64> {
            reading
                .marks
                .iter()
                .filter(|(mark, _)| *mark == wanted)
                .map(|(_, word)| *word)
                .collect()
        };
        let differs = |mark| marked(self, mark) != marked(other, mark);
        let alignment = Alignment::of(&self.pieces, &other.pieces);
        let has_more = !alignment.replaces && alignment.added != 0;
        let fewer = self.pieces.len().min(other.pieces.len());
        let is_detail =
            MIN_SIGNIFICANT_WORDS <= fewer && alignment.added <= (fewer / WORDS_PER_DETAIL).max(1);
        let all = [
            (self.numbers != other.numbers, TextDifference::Number),
            (differs(WordEffect::Date), TextDifference::Date),
            (differs(WordEffect::Negation), TextDifference::Negation),
            (differs(WordEffect::Opposite), TextDifference::Opposite),
            (differs(WordEffect::Amount), TextDifference::Amount),
            (differs(WordEffect::Mood), TextDifference::Mood),
            (differs(WordEffect::Person), TextDifference::Person),
            (
                self.names_in_either(other) != other.names_in_either(self),
                TextDifference::Name,
            ),
            (self.code != other.code, TextDifference::Code),
            (self.literals != other.literals, TextDifference::Literal),
            (alignment.touches_subject, TextDifference::Subject),
            (alignment.replaces, TextDifference::Words),
            (has_more && !is_detail, TextDifference::More),
            (has_more && is_detail, TextDifference::Detail),
        ];
        all.into_iter()
            .filter(|(is_there, _)| *is_there)
            .map(|(_, difference)| difference)
            .collect()
    }

    /// Returns the words of this text that either text spells as names, in order.
    fn names_in_either(&self, other: &Self) -> Vec<u64> {
        let is_name = |stem: &u64| self.names.contains(stem) || other.names.contains(stem);
        self.pieces
            .iter()
            .map(|piece| piece.stem)
            .filter(is_name)
            .collect()
    }
}

/// Returns the number of common elements of two sorted lists.
fn count_common(one: &[u64], other: &[u64]) -> usize {
    let mut others = other.iter().peekable();
    let is_there = |own: &&u64| {
        while others.next_if(|next| *next < *own).is_some() {}
        others.peek() == Some(own)
    };
    one.iter().filter(is_there).count()
}

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
        let keys = |pieces: &[SignificantWord]| -> Vec<u64> {
            pieces.iter().map(|piece| piece.key).collect()
        };
        let (one, other) = if (keys(one), one) <= (keys(other), other) {
            (one, other)
        } else {
            (other, one)
        };
        let is_equal = |(own, other): &(&SignificantWord, &SignificantWord)| own.key == other.key;
        let before = one.iter().zip(other).take_while(is_equal).count();
        let (one, other) = (&one[before..], &other[before..]);
        let after = one
            .iter()
            .rev()
            .zip(other.iter().rev())
            .take_while(is_equal)
            .count();
        let (one, other) = (&one[..one.len() - after], &other[..other.len() - after]);
        if MAX_TABLE < one.len() * other.len() {
            return Self {
                replaces: true,
                added: one.len() + other.len(),
                touches_subject: true,
            };
        }
        let mut found = Self::default();
        let mut sides = [false; 2];
        for (one, other) in alignment_gaps(one, other) {
            let limit = if one.is_empty() || other.is_empty() {
                ADDED_SUBJECT_DISTANCE
            } else {
                SUBJECT_DISTANCE
            };
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
