//! The error for text that cannot be parsed as a type of this crate.

/// The error that a text has the wrong syntax.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {wanted}")]
pub struct ParseError {
    /// The text.
    pub text: String,
    /// The expected syntax, with its article: "a category (…)".
    pub wanted: &'static str,
}

impl ParseError {
    /// Returns the error that `text` is not `wanted`.
    pub fn new(text: &str, wanted: &'static str) -> Self {
        Self { text: text.to_owned(), wanted }
    }
}
