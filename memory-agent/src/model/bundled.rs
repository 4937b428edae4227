//! The embedding model that is part of the program.

use std::num::NonZeroUsize;
use std::thread;

use memory_core::{EmbedError, Embedder, Embedding};
use memory_encoder::{DIMENSION, SentenceEncoder};

use super::parallel::map_parallel;

/// The name of the model, with the start of its hash.
const IDENTITY: &str = "built-in-434ef56cd10883fc";

/// The sentence encoder of the crate `memory-encoder`: sixteen languages, no file, no network.
///
/// A text that the vocabulary does not cover gets the zero vector.
#[derive(Debug, Clone, Copy)]
pub struct BundledEmbedder {
    threads: NonZeroUsize,
}

impl BundledEmbedder {
    /// Returns the model. Many texts are distributed over `threads`, or over all available processors by default.
    pub fn new(threads: Option<NonZeroUsize>) -> Self {
        let threads = threads
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN);
        Self { threads }
    }
}

impl Embedder for BundledEmbedder {
    fn identity(&self) -> &str {
        IDENTITY
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let encoder = SentenceEncoder::bundled();
        Ok(map_parallel(self.threads, texts, |(): &mut (), text| {
            let known = encoder.encode_known(text);
            known.unwrap_or_else(|| vec![0.0; DIMENSION])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_model_has_another_name() {
        let hash = IDENTITY.strip_prefix("built-in-");
        assert!(hash.is_some_and(|hash| memory_encoder::MODEL_HASH.starts_with(hash)));
    }

    #[test]
    fn a_text_outside_of_the_vocabulary_has_the_zero_vector() {
        let texts = ["my dog", "𒀀𒁀𒂀", ""];
        let vectors = BundledEmbedder::new(None)
            .embed(&texts)
            .expect("it needs nothing that can fail");
        let lengths: Vec<f32> = vectors
            .iter()
            .map(|vector| vector.iter().map(|part| part * part).sum::<f32>().round())
            .collect();
        assert_eq!(lengths, [1.0, 0.0, 0.0]);
    }
}
