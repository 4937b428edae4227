//! The unigram model of `SentencePiece`: the most probable segmentation of a text into pieces.

use std::collections::HashSet;

use super::normalizer::Normalizer;
use super::pieces::{LONGEST_PIECE, PieceTable};
use super::pre_tokenizer::{PreTokenizer, split};
use super::vocabulary::TokenVocabulary;
use crate::model::local::sentence_transformer::LONGEST;

/// Difference of the log probability of an unknown character to that of the least probable piece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// A unigram model.
#[derive(Debug)]
pub(super) struct Unigram {
    normalizers: Vec<Normalizer>,
    pre_tokenizers: Vec<PreTokenizer>,
    vocabulary: TokenVocabulary,
    table: PieceTable,
    /// The token for unknown characters; a sequence of them becomes one token.
    pub(super) unknown: Option<u32>,
    unknown_score: f64,
    /// The tokens of single bytes, which replace unknown characters.
    bytes: Option<Box<[u32; 256]>>,
}

/// The last step of the best segmentation up to a position in the text.
#[derive(Debug, Clone, Copy)]
struct SegmentStep {
    score: f64,
    start: usize,
    /// Index of the piece in the vocabulary, or `None` for an unknown character.
    piece: Option<usize>,
}

impl Unigram {
    /// Indexes a vocabulary with scores. `special` pieces are never matched in a text.
    ///
    /// If a piece occurs twice, the last entry is used.
    pub(super) fn new(
        vocabulary: TokenVocabulary,
        special: &HashSet<u32>,
        unknown: Option<u32>,
        has_bytes: bool,
        normalizers: Vec<Normalizer>,
        pre_tokenizers: Vec<PreTokenizer>,
    ) -> Self {
        let mut table = PieceTable::for_pieces(vocabulary.len());
        let mut least = f64::INFINITY;
        for index in 0..vocabulary.len() {
            let (piece, number) = vocabulary.piece(index);
            least = least.min(vocabulary.score(index));
            if !piece.is_empty() && !special.contains(&number) && Some(number) != unknown {
                table.insert(&vocabulary, 0, piece, index);
            }
        }
        let byte = |byte: u8| {
            table
                .find(&vocabulary, 0, &format!("<0x{byte:02X}>"))
                .map(|index| vocabulary.piece(index).1)
        };
        let bytes: Option<Vec<u32>> = if has_bytes {
            (0..=u8::MAX).map(byte).collect()
        } else {
            None
        };
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok()).map(Box::new);
        let unknown_score = least - UNKNOWN_PENALTY;
        Self {
            normalizers,
            pre_tokenizers,
            vocabulary,
            table,
            unknown,
            unknown_score,
            bytes,
        }
    }

    /// Returns the first tokens of a text, at most `most`.
    pub(super) fn tokenize(&self, text: &str, most: usize) -> Vec<u32> {
        let limit = most.min(LONGEST) * LONGEST_PIECE;
        let mut normalized = text[..text.floor_char_boundary(limit)].to_owned();
        for normalizer in &self.normalizers {
            normalized = normalizer.apply(&normalized, limit);
        }
        let (mut ids, mut steps) = (Vec::new(), Vec::new());
        for part in split(normalized, &self.pre_tokenizers) {
            if most <= ids.len() {
                break;
            }
            self.segment(&part, &mut steps, &mut ids);
        }
        ids.truncate(most);
        ids
    }

    /// Appends the tokens of the most probable segmentation; ties go to the longer last piece.
    fn segment(&self, text: &str, steps: &mut Vec<Option<SegmentStep>>, ids: &mut Vec<u32>) {
        steps.clear();
        steps.resize(text.len() + 1, None);
        for (start, character) in text.char_indices() {
            let score = if start == 0 {
                0.0
            } else {
                steps[start].map_or(0.0, |step| step.score)
            };
            let mut reach = |length: usize, score: f64, piece: Option<usize>| {
                let step = &mut steps[start + length];
                if step.is_none_or(|former| former.score < score) {
                    *step = Some(SegmentStep {
                        score,
                        start,
                        piece,
                    });
                }
            };
            let mut has_own_piece = false;
            self.table
                .for_each_prefix(&self.vocabulary, &text[start..], |index, length| {
                    has_own_piece |= length == character.len_utf8();
                    reach(length, score + self.vocabulary.score(index), Some(index));
                });
            if !has_own_piece {
                reach(character.len_utf8(), score + self.unknown_score, None);
            }
        }
        let mut path = Vec::new();
        let mut end = text.len();
        while 0 < end {
            let step = steps[end].expect("each character is a step, known or not");
            path.push((step.piece, step.start..end));
            end = step.start;
        }
        let mut was_unknown = false;
        for (piece, place) in path.into_iter().rev() {
            if let Some(index) = piece {
                ids.push(self.vocabulary.piece(index).1);
            } else if let Some(bytes) = &self.bytes {
                ids.extend(text[place].bytes().map(|byte| bytes[usize::from(byte)]));
            } else if !was_unknown {
                ids.extend(self.unknown);
            }
            was_unknown = piece.is_none();
        }
    }
}
