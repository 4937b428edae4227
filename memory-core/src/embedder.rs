//! The interface of embedding models.

use std::fmt::Debug;

/// A model that maps texts to vectors; the angle between vectors reflects the similarity of the texts.
pub trait Embedder: Debug + Send + Sync {
    /// Returns an identifier of the model; vectors of different models are never compared.
    ///
    /// It is empty if the model cannot be identified; [`Embedder::embed`] then fails.
    fn identity(&self) -> &str;

    /// Returns whether the model computes a vector in a few milliseconds, in this process and without a file.
    ///
    /// A write then embeds its texts before it returns.
    fn is_instant(&self) -> bool {
        false
    }

    /// Returns the model to search with until this one has vectors of as many texts, such as after a switch of the model.
    fn predecessor(&self) -> Option<&dyn Embedder> {
        None
    }

    /// Returns one vector for each text, in order, each of length 1.
    ///
    /// The vector is zero for a text that the vocabulary of the model does not cover; it is similar to no other vector.
    ///
    /// # Errors
    /// If the model does not respond, or does not return vectors of one dimension.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError>;
}

/// A vector of length 1, or a zero vector.
pub type Embedding = Vec<f32>;

/// Returns whether a vector is not zero, which means that the model could read the text.
pub fn is_nonzero(vector: &[f32]) -> bool {
    vector.iter().any(|part| *part != 0.0)
}

/// The error that an embedding model returned no vectors.
#[derive(Debug, thiserror::Error)]
#[error("the embedding model returned no vectors: {why}")]
pub struct EmbedError {
    /// The reason.
    pub why: String,
    /// Advice for the user.
    pub hint: Option<String>,
}

/// Returns the cosine of two vectors of length 1, or 0 for vectors of different dimensions.
pub(crate) fn cosine(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    // Eight parallel sums, which the compiler vectorizes.
    let mut sums = [0.0_f32; 8];
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f32 = ones
        .remainder()
        .iter()
        .zip(others.remainder())
        .map(|(left, right)| left * right)
        .sum();
    for (left, right) in ones.zip(others) {
        for lane in 0..8 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}
