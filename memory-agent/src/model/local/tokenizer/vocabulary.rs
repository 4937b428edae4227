//! The pieces of a vocabulary, as listed in its file.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Pieces and their numbers, in file order.
///
/// Some 30,000 short strings are read before the first text is tokenized. Storing them in one string takes a fifth of
/// the time.
#[derive(Default)]
pub(super) struct TokenVocabulary {
    text: String,
    pieces: Vec<PieceSpan>,
    /// Log probability of each piece; empty if the file has no scores.
    scores: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct PieceSpan {
    start: u32,
    end: u32,
    number: u32,
}

impl fmt::Debug for TokenVocabulary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} pieces", self.len())
    }
}

impl TokenVocabulary {
    pub(super) fn push(&mut self, piece: &str, number: u32) {
        let place =
            |length: usize| u32::try_from(length).expect("files of more than 64 MB are not read");
        let start = place(self.text.len());
        self.text.push_str(piece);
        self.pieces.push(PieceSpan {
            start,
            end: place(self.text.len()),
            number,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the largest number.
    pub(super) fn largest_number(&self) -> Option<u32> {
        self.pieces.iter().map(|piece| piece.number).max()
    }

    /// Returns whether the file has a score for each piece.
    pub(super) fn has_scores(&self) -> bool {
        !self.scores.is_empty()
    }

    /// Returns the log probability of a piece.
    pub(super) fn score(&self, index: usize) -> f64 {
        self.scores.get(index).copied().unwrap_or_default()
    }

    /// Returns the median length of a piece in characters, rounded down.
    pub(super) fn median_length(&self) -> usize {
        let mut lengths: Vec<usize> = (0..self.len())
            .map(|index| self.piece(index).0.chars().count())
            .collect();
        lengths.sort_unstable();
        match (
            lengths.get(lengths.len().wrapping_sub(1) / 2),
            lengths.get(lengths.len() / 2),
        ) {
            (Some(one), Some(other)) => usize::midpoint(*one, *other),
            _ => 0,
        }
    }

    /// Returns a piece and its number.
    pub(super) fn piece(&self, index: usize) -> (&str, u32) {
        let PieceSpan { start, end, number } = self.pieces[index];
        (
            &self.text[Range {
                start: start as usize,
                end: end as usize,
            }],
            number,
        )
    }
}

/// A JSON string that is borrowed from the file if it contains no escapes.
#[derive(serde::Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for TokenVocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct VocabularyVisitor;

        impl<'de> Visitor<'de> for VocabularyVisitor {
            type Value = TokenVocabulary;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a vocabulary: pieces of words and their numbers, or a list of pieces and their scores")
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<TokenVocabulary, A::Error> {
                let mut vocabulary = TokenVocabulary::default();
                while let Some((BorrowedText(piece), score)) = list.next_element()? {
                    let number = u32::try_from(vocabulary.len())
                        .expect("files of more than 64 MB are not read");
                    vocabulary.push(&piece, number);
                    vocabulary.scores.push(score);
                }
                Ok(vocabulary)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TokenVocabulary, A::Error> {
                let mut vocabulary = TokenVocabulary::default();
                while let Some((BorrowedText(piece), number)) = map.next_entry()? {
                    vocabulary.push(&piece, number);
                }
                Ok(vocabulary)
            }
        }

        deserializer.deserialize_any(VocabularyVisitor)
    }
}
