//! The error type of embedding models and rerankers that run in this process.

use memory_core::{EmbedError, RerankError};

/// The reason why a model in a folder cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelError {
    /// The error message, with the name of the file.
    pub(super) why: String,
    /// The suggested next step.
    pub(super) hint: String,
}

impl ModelError {
    pub(super) fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { why: why.into(), hint: hint.into() }
    }
}

impl From<ModelError> for EmbedError {
    fn from(error: ModelError) -> Self {
        Self { why: error.why, hint: Some(error.hint) }
    }
}

impl From<ModelError> for RerankError {
    fn from(error: ModelError) -> Self {
        Self { why: error.why, hint: Some(error.hint) }
    }
}
