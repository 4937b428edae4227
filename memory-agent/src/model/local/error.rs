//! What is wrong with a model in a folder.

use memory_core::{EmbedError, RerankError};

/// Why a model in a folder cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelError {
    /// What is wrong, with the file's name.
    pub(super) why: String,
    /// What to do about it.
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
