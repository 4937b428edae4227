//! A small multilingual sentence encoder: a text becomes a vector of 512 numbers, and texts with a similar meaning have similar
//! vectors, also in different languages.
//!
//! The model is universal-sentence-encoder-multilingual v3 by Google, with a smaller vocabulary and weights of 4 bits. It knows
//! sixteen languages: Arabic, Chinese (simplified and traditional), Dutch, English, French, German, Italian, Japanese, Korean,
//! Polish, Portuguese, Russian, Spanish, Thai and Turkish. It is part of the program and is read in place; nothing is downloaded.
//! See the file `NOTICE` for its licence.
//!
//! ```
//! use memory_encoder::SentenceEncoder;
//!
//! let encoder = SentenceEncoder::bundled();
//! let [question, dog, train] = ["what pet do I have", "我的狗叫雷克斯", "The train leaves at nine."]
//!     .map(|text| encoder.encode(text));
//! let cosine = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
//! assert!(cosine(&question, &train) + 0.2 < cosine(&question, &dog));
//! ```

mod matrix;
mod network;
mod pack;
mod pieces;

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;

use pack::Pack;

/// The number of numbers of a vector.
pub const DIMENSION: usize = 512;

/// The maximum number of pieces of a text that determine its vector, about 700 words of English. Later ones are left out.
pub const MAX_PIECES: usize = 1_024;

/// The SHA-256 of the model. Vectors of models with different hashes cannot be compared.
pub const MODEL_HASH: &str = "434ef56cd10883fce50c88af59335bcb3cee75a54f80cd3116002fc96664c27f";

static BUNDLED: &[u8] = include_bytes!("../pack/encoder.pack");

/// The encoder. It takes no time to open, and is used by all threads at once.
pub struct SentenceEncoder {
    pack: Pack<'static>,
}

impl Debug for SentenceEncoder {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SentenceEncoder")
            .finish_non_exhaustive()
    }
}

impl SentenceEncoder {
    /// Returns the encoder of this crate.
    #[expect(clippy::missing_panics_doc, reason = "a test reads the bundled model")]
    pub fn bundled() -> &'static Self {
        static ENCODER: OnceLock<SentenceEncoder> = OnceLock::new();
        ENCODER.get_or_init(|| Self {
            pack: Pack::read(BUNDLED).expect("the bundled model is complete"),
        })
    }

    /// Returns the vector of a text, of length 1.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        network::encode(&self.pack, &self.pieces(text))
    }

    /// Returns the vector of a text, of length 1; `None` if the vocabulary contains no part of the text.
    pub fn encode_known(&self, text: &str) -> Option<Vec<f32>> {
        let pieces = self.pieces(text);
        // The marks of the ends and of a blank stand in every text.
        let marks = self.pieces("");
        pieces
            .iter()
            .any(|piece| !self.is_unknown(*piece) && !marks.contains(piece))
            .then(|| network::encode(&self.pack, &pieces))
    }

    /// Returns the numbers of the pieces of a text, between that of the start and that of the end.
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        pieces::segment(&self.pack, text)
    }

    /// Returns whether a piece stands for characters that the vocabulary does not contain.
    pub fn is_unknown(&self, piece: u32) -> bool {
        piece == self.pack.unknown
    }
}
