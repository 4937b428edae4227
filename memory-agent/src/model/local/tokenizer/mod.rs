//! Tokenizers: `WordPiece`, and the unigram model of `SentencePiece`.
//!
//! A special token in a text, such as `[SEP]` or `</s>`, is plain text: the content of a memory cannot end one input
//! and start the next.
//!
//! The crate `tokenizers` is not used because each search is a separate process: that crate needs 1.4 s and 480 MB to
//! open a vocabulary of 250,000 pieces.

mod charsmap;
mod format;
mod normalizer;
mod pieces;
mod pre_tokenizer;
mod scripts;
mod special_tokens;
mod unigram;
mod vocabulary;
mod words;

pub(super) use format::LoadedTokenizer;
use pieces::WordPiece;
use scripts::CoveredScripts;
use special_tokens::TokenFrame;
use unigram::Unigram;

/// The file of a tokenizer with all its settings.
const TOKENIZER_FILE: &str = "tokenizer.json";

/// A tokenizer with its vocabulary.
#[derive(Debug)]
pub(super) struct SubwordTokenizer {
    model: SubwordModel,
    /// The special tokens around a text, or the name of one that the vocabulary lacks.
    frame: Result<TokenFrame, String>,
    scripts: CoveredScripts,
    /// The largest token plus one.
    rows: usize,
    /// Median length of a piece, in characters.
    median_piece: usize,
}

#[derive(Debug)]
enum SubwordModel {
    WordPiece(WordPiece),
    Unigram(Box<Unigram>),
}

/// The input of the network: the token ids, and how many of them belong to the first text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenIds {
    pub(super) ids: Vec<u32>,
    pub(super) first: usize,
}

impl SubwordTokenizer {
    /// Returns the tokens of one text with the special tokens around it, truncated to `most`.
    pub(super) fn encode(&self, text: &str, most: usize) -> TokenIds {
        let TokenFrame { before, after, .. } = self.frame();
        let mut ids = before.clone();
        ids.extend(self.tokenize(text, most.saturating_sub(before.len() + after.len())));
        ids.extend(after);
        TokenIds {
            first: ids.len(),
            ids,
        }
    }

    /// Returns the tokens of two texts with the special tokens; the longer text is truncated first.
    pub(super) fn encode_pair(&self, one: &str, other: &str, most: usize) -> TokenIds {
        let TokenFrame {
            before,
            between,
            after,
        } = self.frame();
        let room = most.saturating_sub(before.len() + between.len() + after.len());
        let (mut one, mut other) = (self.tokenize(one, room), self.tokenize(other, room));
        let (one_keeps, other_keeps) = divide_room(one.len(), other.len(), room);
        one.truncate(one_keeps);
        other.truncate(other_keeps);
        let mut ids = before.clone();
        ids.extend(one);
        ids.extend(between);
        let first = ids.len();
        ids.extend(other);
        ids.extend(after);
        TokenIds { ids, first }
    }

    /// Returns the tokens of a text without special tokens, at most `most`. The rest is not read.
    pub(super) fn tokenize(&self, text: &str, most: usize) -> Vec<u32> {
        match &self.model {
            SubwordModel::WordPiece(model) => model.tokenize(text, most),
            SubwordModel::Unigram(model) => model.tokenize(text, most),
        }
    }

    /// Returns the token for unknown text, if the vocabulary has one.
    pub(super) fn unknown_token(&self) -> Option<u32> {
        match &self.model {
            SubwordModel::WordPiece(model) => Some(model.unknown),
            SubwordModel::Unigram(model) => model.unknown,
        }
    }

    /// Returns whether the vocabulary covers a text with the tokens `ids`.
    ///
    /// At least half of the letters must be of scripts that the vocabulary covers, and at least half of the tokens
    /// known.
    pub(super) fn covers(&self, text: &str, ids: &[u32]) -> bool {
        let unknown = ids
            .iter()
            .filter(|id| Some(**id) == self.unknown_token())
            .count();
        2 * unknown <= ids.len() && self.scripts.cover(text)
    }

    /// Returns the median length of a piece, in characters.
    pub(super) fn median_piece(&self) -> usize {
        self.median_piece
    }

    fn frame(&self) -> &TokenFrame {
        const NONE: &TokenFrame = &TokenFrame {
            before: Vec::new(),
            between: Vec::new(),
            after: Vec::new(),
        };
        self.frame.as_ref().unwrap_or(NONE)
    }
}

/// Divides `room` between two texts: the longer one is truncated first, then both equally.
fn divide_room(one: usize, other: usize, room: usize) -> (usize, usize) {
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
