//! The list of pieces that a model knows, as its file gives it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// Pieces and their numbers, in the order of the file.
///
/// Some 30,000 short strings are read before the first text can be. All in one string, that takes a fifth of the time.
#[derive(Default)]
pub(super) struct Vocabulary {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u32,
    end: u32,
    number: u32,
}

impl Vocabulary {
    pub(super) fn push(&mut self, piece: &str, number: u32) {
        let place = |length: usize| u32::try_from(length).expect("files of more than 64 MB are not read");
        let start = place(self.text.len());
        self.text.push_str(piece);
        self.pieces.push(Piece { start, end: place(self.text.len()), number });
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the largest number.
    pub(super) fn largest(&self) -> Option<u32> {
        self.pieces.iter().map(|piece| piece.number).max()
    }

    /// Returns a piece and its number.
    pub(super) fn piece(&self, index: usize) -> (&str, u32) {
        let Piece { start, end, number } = self.pieces[index];
        (&self.text[Range { start: start as usize, end: end as usize }], number)
    }
}

/// A string that is taken from the file as it stands, if it stands there without escapes.
#[derive(serde::Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pieces;

        impl<'de> Visitor<'de> for Pieces {
            type Value = Vocabulary;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a vocabulary: pieces of words and their numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary, A::Error> {
                let mut vocabulary = Vocabulary::default();
                while let Some((Borrowed(piece), number)) = map.next_entry()? {
                    vocabulary.push(&piece, number);
                }
                Ok(vocabulary)
            }
        }

        deserializer.deserialize_map(Pieces)
    }
}
