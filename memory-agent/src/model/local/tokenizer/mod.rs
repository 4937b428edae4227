//! How a text becomes tokens: words and pieces of words (`WordPiece`), or the most probable pieces (`SentencePiece` unigram).
//!
//! A special token that is written out in a text, such as `[SEP]` or `</s>`, is text like any other: what somebody remembered
//! cannot end one input and begin the next.
//!
//! The tokenizers are our own and not the crate `tokenizers`, because each search is a process: that crate takes 1.4 s and
//! 480 MB to open a vocabulary of 250,000 pieces.

mod charsmap;
mod format;
mod normalizer;
mod pieces;
mod pre_tokenizer;
mod scripts;
mod special_tokens;
mod unigram;
mod vocabulary;
mod wordpiece;
mod words;

pub(super) use format::Opened;
use scripts::Scripts;
use special_tokens::Frame;
use unigram::Unigram;
use wordpiece::WordPiece;

/// Turns texts into tokens.
#[derive(Debug)]
pub(super) struct Tokenizer {
    model: Model,
    /// The special tokens around a text, or the name of the one that the vocabulary lacks.
    frame: Result<Frame, String>,
    scripts: Scripts,
    /// One more than the largest token.
    rows: usize,
    /// The median length of a piece, in characters.
    median_piece: usize,
}

#[derive(Debug)]
enum Model {
    WordPiece(WordPiece),
    Unigram(Box<Unigram>),
}

/// What the network reads: one number for each token, and how many of them belong to the first of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) ids: Vec<u32>,
    pub(super) first: usize,
}

impl Tokenizer {
    /// Returns the tokens of one text, with those that stand before and after it; a text of more than `most` is cut.
    pub(super) fn one(&self, text: &str, most: usize) -> Tokens {
        let Frame { before, after, .. } = self.frame();
        let mut ids = before.clone();
        ids.extend(self.plain(text, most.saturating_sub(before.len() + after.len())));
        ids.extend(after);
        Tokens { first: ids.len(), ids }
    }

    /// Returns the tokens of two texts, with those around and between them; the longer text is cut first.
    pub(super) fn pair(&self, one: &str, other: &str, most: usize) -> Tokens {
        let Frame { before, between, after } = self.frame();
        let room = most.saturating_sub(before.len() + between.len() + after.len());
        let (mut one, mut other) = (self.plain(one, room), self.plain(other, room));
        let (one_keeps, other_keeps) = share(one.len(), other.len(), room);
        one.truncate(one_keeps);
        other.truncate(other_keeps);
        let mut ids = before.clone();
        ids.extend(one);
        ids.extend(between);
        let first = ids.len();
        ids.extend(other);
        ids.extend(after);
        Tokens { ids, first }
    }

    /// Returns the text's own tokens, at most `most`. What comes after them is not even read.
    pub(super) fn plain(&self, text: &str, most: usize) -> Vec<u32> {
        match &self.model {
            Model::WordPiece(model) => model.tokens(text, most),
            Model::Unigram(model) => model.tokens(text, most),
        }
    }

    /// Returns the token of what the vocabulary does not know, if it has one.
    pub(super) fn unknown(&self) -> Option<u32> {
        match &self.model {
            Model::WordPiece(model) => Some(model.unknown),
            Model::Unigram(model) => model.unknown,
        }
    }

    /// Returns whether the vocabulary was made for texts like this one, whose tokens are `ids`: most letters are of scripts it
    /// has enough pieces of, and most tokens are known.
    pub(super) fn covers(&self, text: &str, ids: &[u32]) -> bool {
        let unknown = ids.iter().filter(|id| Some(**id) == self.unknown()).count();
        2 * unknown <= ids.len() && self.scripts.cover(text)
    }

    /// Returns the median length of a piece, in characters.
    pub(super) fn median_piece(&self) -> usize {
        self.median_piece
    }

    fn frame(&self) -> &Frame {
        const NONE: &Frame = &Frame { before: Vec::new(), between: Vec::new(), after: Vec::new() };
        self.frame.as_ref().unwrap_or(NONE)
    }
}

/// Returns how much each of two texts keeps of `room`: as long as it lasts the longer one is cut, then both alike.
fn share(one: usize, other: usize, room: usize) -> (usize, usize) {
    if one + other <= room {
        return (one, other);
    }
    let half = room / 2;
    if one <= half {
        (one, room - one)
    } else if other <= half {
        (room - other, other)
    } else if one <= other {
        (half, room - half)
    } else {
        (room - half, half)
    }
}

#[cfg(test)]
mod unigram_tests;
#[cfg(test)]
mod wordpiece_tests;
