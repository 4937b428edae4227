//! Requests to a language model and its answers.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::ParseError;

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

/// The purpose of a request to a language model, as one word such as `classify`.
///
/// The usage is recorded per purpose.
///
/// A purpose has 1 to 32 characters: letters from a to z, digits, `-` and `_`.
///
/// # Examples
/// ```
/// use memory_core::Purpose;
///
/// const CLASSIFY: Purpose = Purpose::of("classify");
/// assert_eq!("classify".parse(), Ok(CLASSIFY));
/// assert!("Two words".parse::<Purpose>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Purpose(Cow<'static, str>);

const MAX_PURPOSE_LENGTH: usize = 32;

impl Purpose {
    /// Returns the purpose `word`; intended for constants.
    ///
    /// # Panics
    /// If `word` is not a valid purpose. In a constant, this is a compile error.
    pub const fn of(word: &'static str) -> Self {
        assert!(
            is_purpose(word.as_bytes()),
            "a purpose has 1 to 32 characters from a-z, 0-9, - and _"
        );
        Self(Cow::Borrowed(word))
    }

    /// Returns the purpose as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_purpose(word: &[u8]) -> bool {
    let mut index = 0;
    while index < word.len() {
        if !matches!(word[index], b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_') {
            return false;
        }
        index += 1;
    }
    0 < index && index <= MAX_PURPOSE_LENGTH
}

impl FromStr for Purpose {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wanted = || {
            ParseError::new(
                text,
                "a purpose (up to 32 characters from a-z, 0-9, - and _)",
            )
        };
        is_purpose(text.as_bytes())
            .then(|| Self(Cow::Owned(text.to_owned())))
            .ok_or_else(wanted)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// One request to a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// The purpose of the request.
    pub purpose: Purpose,
    /// The messages of the conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Maximum number of tokens of the response.
    pub max_tokens: u32,
}

/// Estimated number of tokens for the envelope of each message.
const MESSAGE_OVERHEAD: u64 = 8;

impl ChatRequest {
    /// Returns an estimate of the tokens that the request uses.
    ///
    /// It consists of the prompt, as [`TokenUsage::of`] estimates it, and the longest response that is allowed.
    pub fn estimate(&self) -> TokenUsage {
        let prompt = self
            .messages
            .iter()
            .map(|message| TokenUsage::of(&message.content).saturating_add(MESSAGE_OVERHEAD));
        TokenUsage {
            prompt: prompt.fold(0, u64::saturating_add),
            answer: self.max_tokens.into(),
            estimated: true,
        }
    }
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// The author.
    pub role: ChatRole,
    /// The text.
    pub content: String,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChatRole {
    /// The program.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
}
