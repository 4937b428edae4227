//! The `WordPiece` model: each word is split into the longest pieces of a vocabulary.

use std::fmt;

use super::vocabulary::TokenVocabulary;
use super::words::{NormalizedWord, NormalizedWords, WordNormalization};

/// Maximum length of a piece in bytes. A longer one is never found, because it would slow down every search for a piece.
///
/// The longest pieces of published vocabularies have 48 bytes.
pub(super) const LONGEST_PIECE: usize = 128;

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

/// The pieces of a vocabulary: those that start a word, and those that continue one.
pub(super) struct PieceSegmenter {
    vocabulary: TokenVocabulary,
    prefix: usize,
    first: PieceTable,
    further: PieceTable,
}

/// An index from pieces to vocabulary entries: a hash table with open addressing.
pub(super) struct PieceTable {
    /// 0 for an empty slot, else the index in the vocabulary plus one.
    slots: Vec<u32>,
    longest: usize,
}

impl PieceSegmenter {
    /// Indexes a vocabulary, in which pieces that continue a word start with `prefix`.
    ///
    /// If a piece occurs twice, the last entry is used.
    pub(super) fn new(vocabulary: TokenVocabulary, prefix: &str) -> Self {
        let mut pieces = Self {
            prefix: prefix.len(),
            first: PieceTable::for_pieces(vocabulary.len()),
            further: PieceTable::for_pieces(vocabulary.len()),
            vocabulary: TokenVocabulary::default(),
        };
        for index in 0..vocabulary.len() {
            let (piece, _) = vocabulary.piece(index);
            match piece
                .strip_prefix(prefix)
                .filter(|rest| !rest.is_empty() && !prefix.is_empty())
            {
                Some(rest) => pieces
                    .further
                    .insert(&vocabulary, prefix.len(), rest, index),
                None => pieces.first.insert(&vocabulary, 0, piece, index),
            }
        }
        pieces.vocabulary = vocabulary;
        pieces
    }

    /// Returns the number of a piece that starts a word.
    pub(super) fn number(&self, piece: &str) -> Option<u32> {
        self.first
            .find(&self.vocabulary, 0, piece)
            .map(|index| self.vocabulary.piece(index).1)
    }

    /// Returns the largest number plus one; some numbers below it may be unused.
    pub(super) fn rows(&self) -> usize {
        self.vocabulary
            .largest_number()
            .map_or(0, |largest| largest as usize + 1)
    }

    /// Appends the numbers of a word's pieces: repeatedly the longest known prefix of the rest.
    ///
    /// A word that cannot be segmented completely, or is too long, is `unknown` as a whole.
    pub(super) fn split(&self, word: NormalizedWord<'_>, unknown: u32, numbers: &mut Vec<u32>) {
        let before = numbers.len();
        let mut rest = match word {
            NormalizedWord::Spelled(text) => text,
            NormalizedWord::TooLong => return numbers.push(unknown),
        };
        let (mut table, mut prefix) = (&self.first, 0);
        while !rest.is_empty() {
            let Some((index, length)) = table.longest_prefix(&self.vocabulary, prefix, rest) else {
                numbers.truncate(before);
                return numbers.push(unknown);
            };
            numbers.push(self.vocabulary.piece(index).1);
            rest = &rest[length..];
            (table, prefix) = (&self.further, self.prefix);
        }
    }
}

impl fmt::Debug for PieceSegmenter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.vocabulary.fmt(formatter)
    }
}

impl fmt::Debug for PieceTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} slots", self.slots.len())
    }
}

impl PieceTable {
    pub(super) fn for_pieces(count: usize) -> Self {
        // At most half of the slots are used, so every lookup reaches an empty slot.
        Self {
            slots: vec![0; (2 * count + 1).next_power_of_two()],
            longest: 0,
        }
    }

    /// Inserts a piece of up to [`LONGEST_PIECE`] bytes; `prefix` is the number of bytes to skip at the start of vocabulary entries.
    pub(super) fn insert(
        &mut self,
        vocabulary: &TokenVocabulary,
        prefix: usize,
        piece: &str,
        index: usize,
    ) {
        if LONGEST_PIECE < piece.len() {
            return;
        }
        self.longest = self.longest.max(piece.len());
        let slot = self.slot(vocabulary, prefix, piece);
        self.slots[slot] = u32::try_from(index + 1).expect("a file of 64 MB has fewer pieces");
    }

    pub(super) fn find(
        &self,
        vocabulary: &TokenVocabulary,
        prefix: usize,
        piece: &str,
    ) -> Option<usize> {
        (self.slots[self.slot(vocabulary, prefix, piece)] as usize).checked_sub(1)
    }

    /// Calls `found` with the index and length of each piece that is a prefix of `text`, shortest first.
    pub(super) fn for_each_prefix(
        &self,
        vocabulary: &TokenVocabulary,
        text: &str,
        mut found: impl FnMut(usize, usize),
    ) {
        let mut hash = FIRST_HASH;
        for (place, byte) in text.bytes().enumerate().take(self.longest) {
            hash = mix(hash, byte);
            let end = place + 1;
            if text.is_char_boundary(end)
                && let Some(index) =
                    (self.slots[self.slot_from(fold(hash), vocabulary, 0, &text[..end])] as usize)
                        .checked_sub(1)
            {
                found(index, end);
            }
        }
    }

    /// Returns the index and the length of the longest piece that is a prefix of `text`.
    fn longest_prefix(
        &self,
        vocabulary: &TokenVocabulary,
        prefix: usize,
        text: &str,
    ) -> Option<(usize, usize)> {
        let ends = (1..=self.longest.min(text.len()))
            .rev()
            .filter(|end| text.is_char_boundary(*end));
        ends.into_iter()
            .find_map(|end| Some((self.find(vocabulary, prefix, &text[..end])?, end)))
    }

    /// Returns the slot of a piece, or the empty slot for inserting it.
    fn slot(&self, vocabulary: &TokenVocabulary, prefix: usize, piece: &str) -> usize {
        self.slot_from(
            fold(piece.bytes().fold(FIRST_HASH, mix)),
            vocabulary,
            prefix,
            piece,
        )
    }

    fn slot_from(
        &self,
        hash: usize,
        vocabulary: &TokenVocabulary,
        prefix: usize,
        piece: &str,
    ) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = hash & last;
        while let Some(index) = (self.slots[slot] as usize).checked_sub(1)
            && vocabulary.piece(index).0[prefix..] != *piece
        {
            slot = (slot + 1) & last;
        }
        slot
    }
}

/// The offset basis of FNV-1a.
const FIRST_HASH: u64 = 0xcbf2_9ce4_8422_2325;

fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// Folds the upper half of a hash into the lower half.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only some bits of it are used"
)]
fn fold(hash: u64) -> usize {
    (hash ^ (hash >> 32)) as usize
}
