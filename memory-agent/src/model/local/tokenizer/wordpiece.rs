//! The `WordPiece` model: each word is split into the longest known pieces.

use super::pieces::PieceSegmenter;
use super::words::{NormalizedWords, WordNormalization};

/// A `WordPiece` model.
#[derive(Debug)]
pub(super) struct WordPiece {
    pub(super) spelling: WordNormalization,
    pub(super) pieces: PieceSegmenter,
    /// The token for a word that cannot be segmented.
    pub(super) unknown: u32,
    /// Maximum length of a word; longer words are unknown.
    pub(super) most_characters: usize,
}

impl WordPiece {
    /// Returns the first tokens of a text, at most `most`. The rest is not read.
    pub(super) fn tokenize(&self, text: &str, most: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut words = NormalizedWords::new(text, self.spelling, self.most_characters);
        while ids.len() < most
            && let Some(word) = words.next()
        {
            self.pieces.split(word, self.unknown, &mut ids);
        }
        ids.truncate(most);
        ids
    }
}
