//! What a language model answers, and what that takes.

/// What a language model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// What it took.
    pub tokens: Tokens,
}

/// The parts of words that a model has read and written; providers count and charge them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Those of what was asked.
    pub prompt: u64,
    /// Those of the answer, with all that the model thought to itself.
    pub answer: u64,
    /// Whether either number is an estimate of ours, because the provider does not tell it.
    pub estimated: bool,
}

impl Tokens {
    /// Estimates how many tokens a text has: one for three bytes of it.
    ///
    /// That is about right for Chinese, Japanese and Korean, whose characters have three bytes and mostly one token, and
    /// errs on the safe side for English, where a token has some four characters.
    pub fn of(text: &str) -> u64 {
        text.len().div_ceil(3) as u64
    }

    /// Returns all of them.
    pub fn total(self) -> u64 {
        self.prompt.saturating_add(self.answer)
    }
}
