//! The response of a language model, with its token usage.

/// The response of a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatAnswer {
    /// The text.
    pub text: String,
    /// The token usage.
    pub tokens: TokenUsage,
}

/// The tokens that a model has processed, the unit that providers count and charge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// The tokens of the request.
    pub prompt: u64,
    /// The tokens of the response, including the reasoning of the model.
    pub answer: u64,
    /// Whether either number is an estimate, because the provider does not report it.
    pub estimated: bool,
}

impl TokenUsage {
    /// Estimates the number of tokens in a text: one per three bytes.
    ///
    /// The estimate is about right for Chinese, Japanese and Korean, where a character has three bytes and usually one token. It is too
    /// high for English, where a token has about four characters.
    pub fn of(text: &str) -> u64 {
        text.len().div_ceil(3) as u64
    }

    /// Returns the sum of both numbers.
    pub fn total(self) -> u64 {
        self.prompt.saturating_add(self.answer)
    }
}
