//! The segmentation of a text into pieces of the vocabulary.

use unicode_normalization::UnicodeNormalization;

use crate::MAX_PIECES;
use crate::pack::Pack;

/// Replaces a space, and stands in front of a text.
const SPACE: char = '▁';

/// What an unknown character costs, relative to the lowest score of a piece.
const UNKNOWN_PENALTY: f32 = 10.0;

/// Characters that determine the pieces, without white space; a piece has at least one.
const MAX_CHARACTERS: usize = 16 * MAX_PIECES;

/// The best segmentation that ends at a byte: its score, and the start and number of its last piece.
#[derive(Clone, Copy)]
struct SegmentationStep {
    score: f32,
    start: usize,
    piece: u32,
}

/// Returns the pieces with the highest sum of scores. Neighbouring unknown characters are one piece.
pub(crate) fn segment(pack: &Pack<'_>, text: &str) -> Vec<u32> {
    let text = normalise(text);
    let unknown_score = pack.lowest_score - UNKNOWN_PENALTY;
    let unreached = SegmentationStep {
        score: f32::NEG_INFINITY,
        start: 0,
        piece: pack.unknown,
    };
    let mut steps = vec![unreached; text.len() + 1];
    steps[0].score = 0.0;
    for (start, character) in text.char_indices() {
        let score = steps[start].score;
        let mut offer = |end: usize, score: f32, piece: u32| {
            if steps[end].score < score {
                steps[end] = SegmentationStep {
                    score,
                    start,
                    piece,
                };
            }
        };
        let mut node = 0;
        for (offset, byte) in text.as_bytes()[start..].iter().enumerate() {
            let Some(child) = pack.child(node, *byte) else {
                break;
            };
            node = child;
            if let Some(piece) = pack.piece_at(node) {
                offer(start + offset + 1, score + pack.score(piece), piece);
            }
        }
        offer(
            start + character.len_utf8(),
            score + unknown_score,
            pack.unknown,
        );
    }
    let mut pieces = vec![pack.end];
    let mut end = text.len();
    while 0 < end {
        let step = steps[end];
        if step.piece != pack.unknown || pieces.last() != Some(&pack.unknown) {
            pieces.push(step.piece);
        }
        end = step.start;
    }
    pieces.push(pack.start);
    pieces.reverse();
    if MAX_PIECES < pieces.len() {
        pieces.truncate(MAX_PIECES - 1);
        pieces.push(pack.end);
    }
    pieces
}

/// Returns the text in the form NFKC, with [`SPACE`] for white space and in front.
fn normalise(text: &str) -> String {
    let mut normal = String::with_capacity(text.len() + SPACE.len_utf8());
    normal.push(SPACE);
    let mut is_space = true;
    let mut left = MAX_CHARACTERS;
    for character in text.nfkc() {
        // Python's white space, with which the model was described, includes four separators of information.
        if character.is_whitespace() || ('\x1c'..='\x1f').contains(&character) {
            is_space = true;
            continue;
        }
        if std::mem::take(&mut is_space) && SPACE.len_utf8() < normal.len() {
            normal.push(SPACE);
        }
        normal.push(character);
        left -= 1;
        if left == 0 {
            break;
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_one_mark_and_forms_are_unified() {
        for (text, expected) in [
            ("", "▁"),
            ("  a \t\n b\u{1d}c ", "▁a▁b▁c"),
            ("ﬁ ①　ｶﾞ", "▁fi▁1▁ガ"),
            ("▁", "▁▁"),
            (&format!("{}a", " ".repeat(MAX_CHARACTERS)), "▁a"),
        ] {
            assert_eq!(normalise(text), expected, "{text:?}");
        }
    }
}
