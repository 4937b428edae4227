//! Whether two texts say the same.

use super::alignment::Alignment;
use super::mark::Mark;
use super::reading::Reading;

/// A shorter text is a duplicate of its equal alone.
const FEWEST_WORDS: usize = 4;

/// What is added may be a detail only in a text of at least so many words that say something,
const FEWEST_PIECES: usize = 8;

/// and if it is at most one word in so many,
const PIECES_FOR_ONE: usize = 10;

/// and if the texts share at least this much.
const RESEMBLING: f32 = 0.8;

/// A model that finds texts this near takes words that were replaced for other words for the same,
const NEAR: f32 = 0.95;

/// if the texts share at least this much.
const BORDERLINE: f32 = 0.3;

/// How alike two texts are, and in what they differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness {
    /// Which share of the shingles of either text both have, from 0 to 1.
    pub jaccard: f32,
    /// Which share of the shingles of one text the other has; the greater of the two.
    pub containment: f32,
    /// The cosine of their vectors, if a model read them.
    pub cosine: Option<f32>,
    /// Whether they are equal but for case, width, accents, blanks and the punctuation at the end.
    pub is_same: bool,
    /// Whether every sentence of one is in the other, under the same heading if it has one.
    pub is_contained: bool,
    /// Whether one of them is too short to tell.
    pub is_short: bool,
    /// What else they differ in, each once, in order.
    pub differences: Vec<Difference>,
}

/// What two texts differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Difference {
    /// A number, a time or a version.
    Number,
    /// A day or a month, or whether it is still so.
    Date,
    /// Whether something is denied or restricted.
    Negation,
    /// A word that has an opposite, such as `on` or `before`.
    Opposite,
    /// How much, how many or how often.
    Amount,
    /// Whether it must, may, will or did.
    Mood,
    /// Who it is about.
    Person,
    /// A name.
    Name,
    /// A piece of code.
    Code,
    /// An address, a path, an identifier or a link.
    Literal,
    /// What one of their sentences begins with.
    Subject,
    /// Words stand for others, or elsewhere; the only difference that a model may overlook, with the next two.
    Words,
    /// One says more in many words, or in a short text.
    More,
    /// One says a few words more, as a detail.
    Detail,
}

impl Likeness {
    /// Tells whether the texts say the same, so that they may become one. In doubt they do not.
    ///
    /// A difference in a number, a date, a negation, an opposite, a name, a piece of code or what a sentence is about is a
    /// difference, however alike the rest is, and whatever a model says.
    pub fn is_duplicate(&self) -> bool {
        if self.is_same {
            return true;
        }
        if self.is_short {
            return false;
        }
        let is_slight = |difference: &Difference| Difference::Words <= *difference;
        let are_near = self.cosine.is_some_and(|cosine| NEAR <= cosine) && BORDERLINE <= self.jaccard;
        match self.differences.as_slice() {
            _ if self.is_contained => true,
            [] => true,
            [Difference::Detail] => RESEMBLING <= self.jaccard || are_near,
            differences => differences.iter().all(is_slight) && are_near,
        }
    }
}

/// Returns how alike two texts are; their order does not matter.
///
/// ```
/// use memory_dream::similar::{Difference, likeness};
///
/// assert!(likeness("The port of the proxy is 8080", "the port of the proxy is: 8080.", None).is_duplicate());
/// let other = likeness("The port of the proxy is 8080", "The port of the proxy is 8081", None);
/// assert_eq!(other.differences, [Difference::Number, Difference::Words]);
/// assert!(!other.is_duplicate());
/// ```
pub fn likeness(one: &str, other: &str, cosine: Option<f32>) -> Likeness {
    Reading::of(one).likeness(&Reading::of(other), cosine)
}

impl Reading {
    /// Returns how alike the texts are, as [`likeness`] does.
    #[expect(clippy::cast_precision_loss, reason = "no text has so many shingles that it matters")]
    pub fn likeness(&self, other: &Self, cosine: Option<f32>) -> Likeness {
        let common = in_common(&self.shingles, &other.shingles);
        let (own, others) = (self.shingles.len(), other.shingles.len());
        Likeness {
            jaccard: common as f32 / (own + others - common).max(1) as f32,
            containment: common as f32 / own.min(others).max(1) as f32,
            cosine,
            is_same: self.whole == other.whole && self.code == other.code,
            is_contained: self.is_within(other) || other.is_within(self),
            is_short: self.words.min(other.words) < FEWEST_WORDS,
            differences: self.differences(other),
        }
    }

    /// Tells whether the texts say the same, as [`Likeness::is_duplicate`] does, but sooner where they do not.
    pub fn is_duplicate_of(&self, other: &Self, cosine: Option<f32>) -> bool {
        let differ = (&self.numbers, &self.marks, self.code, &self.literals)
            != (&other.numbers, &other.marks, other.code, &other.literals);
        let may_be = !differ || self.whole == other.whole || self.is_within(other) || other.is_within(self);
        may_be && self.likeness(other, cosine).is_duplicate()
    }

    /// Tells whether every sentence of this text is in the other.
    fn is_within(&self, other: &Self) -> bool {
        let anywhere = |key: &u64| {
            let start = other.sentences.partition_point(|(own, _)| own < key);
            other.sentences.get(start).is_some_and(|(own, _)| own == key)
        };
        let says = |said: &(u64, Option<u64>)| match said.1 {
            Some(_) => other.sentences.binary_search(said).is_ok(),
            None => anywhere(&said.0),
        };
        self.sentences.iter().all(says)
    }

    fn differences(&self, other: &Self) -> Vec<Difference> {
        let marked = |reading: &Self, wanted: Mark| -> Vec<u64> {
            reading.marks.iter().filter(|(mark, _)| *mark == wanted).map(|(_, word)| *word).collect()
        };
        let differs = |mark| marked(self, mark) != marked(other, mark);
        let alignment = Alignment::of(&self.pieces, &other.pieces);
        let has_more = !alignment.replaces && alignment.added != 0;
        let fewer = self.pieces.len().min(other.pieces.len());
        let is_detail = FEWEST_PIECES <= fewer && alignment.added <= (fewer / PIECES_FOR_ONE).max(1);
        let all = [
            (self.numbers != other.numbers, Difference::Number),
            (differs(Mark::Date), Difference::Date),
            (differs(Mark::Negation), Difference::Negation),
            (differs(Mark::Opposite), Difference::Opposite),
            (differs(Mark::Amount), Difference::Amount),
            (differs(Mark::Mood), Difference::Mood),
            (differs(Mark::Person), Difference::Person),
            (self.names_beside(other) != other.names_beside(self), Difference::Name),
            (self.code != other.code, Difference::Code),
            (self.literals != other.literals, Difference::Literal),
            (alignment.touches_subject, Difference::Subject),
            (alignment.replaces, Difference::Words),
            (has_more && !is_detail, Difference::More),
            (has_more && is_detail, Difference::Detail),
        ];
        all.into_iter().filter(|(is_there, _)| *is_there).map(|(_, difference)| difference).collect()
    }

    /// Returns the words that one of the texts spells as names, as they follow each other in this one.
    fn names_beside(&self, other: &Self) -> Vec<u64> {
        let is_name = |stem: &u64| self.names.contains(stem) || other.names.contains(stem);
        self.pieces.iter().map(|piece| piece.stem).filter(is_name).collect()
    }
}

/// Returns how many numbers two ordered lists have in common.
fn in_common(one: &[u64], other: &[u64]) -> usize {
    let mut others = other.iter().peekable();
    let is_there = |own: &&u64| {
        while others.next_if(|next| *next < *own).is_some() {}
        others.peek() == Some(own)
    };
    one.iter().filter(is_there).count()
}
