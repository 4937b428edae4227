//! A model that tells how well texts answer a question.

use std::fmt::Debug;

/// Reads a question together with each text, and tells how well the text answers it.
///
/// It is better at that than the angle between two vectors, and much slower: it is asked about the best few of a search.
pub trait Reranker: Debug + Send + Sync {
    /// Returns what tells this model from every other; scores of different models are never compared.
    fn identity(&self) -> &str;

    /// Returns one finite score for each text, in order: what the model says itself (a logit), before any scaling.
    ///
    /// A higher score is a better answer. The score of a text does not depend on the other texts, save for rounding.
    /// [`sigmoid()`](crate::rank::sigmoid) and [`min_max()`](crate::rank::min_max) bring scores between 0 and 1.
    ///
    /// # Errors
    /// When the model does not answer, or answers with something else than one finite number for each text.
    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError>;
}

/// Why there are no scores.
#[derive(Debug, thiserror::Error)]
#[error("the reranking model gave no scores: {why}")]
pub struct RerankError {
    /// Why.
    pub why: String,
    /// What to do about it, if there is something to be said.
    pub hint: Option<String>,
}
