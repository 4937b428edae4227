//! Fuzzes the sentence encoder.
//!
//! The pieces of a text are between the marks of the start and the end. The vector has length 1, and does not depend on white space
//! at the ends.

use memory_encoder::{DIMENSION, MAX_PIECES, SentenceEncoder};

/// Encodes a text. Bytes that are not UTF-8 are replaced.
pub fn encoder(bytes: &[u8]) {
    let encoder = SentenceEncoder::bundled();
    let text = String::from_utf8_lossy(bytes);
    let pieces = encoder.pieces(&text);
    assert!((2..=MAX_PIECES).contains(&pieces.len()), "{}", pieces.len());
    let empty = encoder.pieces("");
    let marks = [empty.first(), empty.last()];
    assert_eq!([pieces.first(), pieces.last()], marks);
    let inner = &pieces[1..pieces.len() - 1];
    assert!(!inner.iter().any(|piece| marks.contains(&Some(piece))));
    assert!(
        inner
            .windows(2)
            .all(|pair| !pair.iter().all(|piece| encoder.is_unknown(*piece))),
        "neighbouring unknown characters are one piece: {pieces:?}"
    );
    let vector = encoder.encode(&text);
    assert_eq!(vector.len(), DIMENSION);
    let square: f32 = vector.iter().map(|number| number * number).sum();
    assert!((square - 1.0).abs() < 1e-4, "{square}");
    let spaced = format!(" \u{3000}\n{text}\t \u{2028}");
    assert_eq!(encoder.pieces(&spaced), pieces);
    assert_eq!(encoder.encode(&spaced), vector);
}
