//! The interface of reranking models.

use std::fmt::Debug;

/// A model that reads a query together with each text and scores the relevance of the text.
///
/// It is more accurate than the angle between two vectors, but slower, so only the best hits of a search are
/// scored.
pub trait Reranker: Debug + Send + Sync {
    /// Returns an identifier of the model; scores of different models are never compared.
    fn identity(&self) -> &str;

    /// Returns one finite score for each text, in order: the raw logit of the model.
    ///
    /// A higher score is better. The score of a text does not depend on the other texts, except for rounding.
    /// [`sigmoid()`](crate::rank::sigmoid) and [`min_max()`](crate::rank::min_max) map scores to the range 0 to 1.
    ///
    /// # Errors
    /// If the model does not respond, or does not return one finite number for each text.
    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError>;
}

/// The error that a reranking model returned no scores.
#[derive(Debug, thiserror::Error)]
#[error("the reranking model returned no scores: {why}")]
pub struct RerankError {
    /// The reason.
    pub why: String,
    /// Advice for the user.
    pub hint: Option<String>,
}
