//! How a text becomes tokens, as BERT models expect it: words, and pieces of words.
//!
//! A special token that is written out in a text, such as `[SEP]`, is text like any other: what somebody remembered
//! cannot end one input and begin the next.

mod format;
mod pieces;
mod vocabulary;
mod words;

use pieces::Pieces;
use words::{Spelling, Words};

/// Turns texts into tokens.
#[derive(Debug)]
pub(super) struct Tokenizer {
    spelling: Spelling,
    pieces: Pieces,
    unknown: u32,
    start: u32,
    separator: u32,
    most_characters: usize,
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
        let mut ids = vec![self.start];
        ids.extend(self.plain(text, most.saturating_sub(2)));
        ids.push(self.separator);
        Tokens { first: ids.len(), ids }
    }

    /// Returns the tokens of two texts, with those around and between them; the longer text is cut first.
    pub(super) fn pair(&self, one: &str, other: &str, most: usize) -> Tokens {
        let room = most.saturating_sub(3);
        let (mut one, mut other) = (self.plain(one, room), self.plain(other, room));
        let (one_keeps, other_keeps) = share(one.len(), other.len(), room);
        one.truncate(one_keeps);
        other.truncate(other_keeps);
        let mut ids = vec![self.start];
        ids.extend(one);
        ids.push(self.separator);
        let first = ids.len();
        ids.extend(other);
        ids.push(self.separator);
        Tokens { ids, first }
    }

    /// Returns the text's own tokens, at most `most`. What comes after them is not even read.
    fn plain(&self, text: &str, most: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut words = Words::new(text, self.spelling, self.most_characters);
        while ids.len() < most
            && let Some(word) = words.next()
        {
            self.pieces.split(word, self.unknown, &mut ids);
        }
        ids.truncate(most);
        ids
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
mod tests;
