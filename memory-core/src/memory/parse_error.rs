//! Why a text is not one of the small types of a memory.

/// A text that cannot be read as what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {wanted}")]
pub struct ParseError {
    /// The text that was given.
    pub text: String,
    /// What was expected, with its article: "a category (…)".
    pub wanted: &'static str,
}

impl ParseError {
    /// Says that `text` is not `wanted`.
    pub fn new(text: &str, wanted: &'static str) -> Self {
        Self { text: text.to_owned(), wanted }
    }
}
