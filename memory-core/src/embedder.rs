//! A model that turns texts into vectors.

use std::fmt::Debug;

/// Turns texts into vectors whose angles tell how alike the texts are.
pub trait Embedder: Debug + Send + Sync {
    /// Returns what tells this model from every other; vectors of different models are never compared. It is empty if the
    /// model cannot be told: then it gives no vectors either.
    fn identity(&self) -> &str;

    /// Returns one vector for each text, in order: of length 1, or of zeros for a text that the model cannot read because its
    /// vocabulary was not made for it. Such a vector is near to none.
    ///
    /// # Errors
    /// When the model does not answer, or answers with something else than vectors of one length.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError>;
}

/// A vector of length 1, or of zeros.
pub type Embedding = Vec<f32>;

/// Returns whether a vector is that of a text which the model could read.
pub fn has_direction(vector: &[f32]) -> bool {
    vector.iter().any(|part| *part != 0.0)
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
#[error("the embedding model gave no vectors: {why}")]
pub struct EmbedError {
    /// Why.
    pub why: String,
    /// What to do about it, if there is something to be said.
    pub hint: Option<String>,
}
