//! A language model that can be asked.

use std::fmt::Debug;

/// A language model. It makes answers better and is never required.
pub trait ChatModel: Debug + Send + Sync {
    /// Returns the model's answer as text.
    ///
    /// # Errors
    /// When the model does not answer in time, or refuses.
    fn answer(&self, request: &ChatRequest) -> Result<String, ChatError>;
}

/// One request to a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// How many tokens the answer may have.
    pub max_tokens: u32,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What.
    pub content: String,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The program.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// Why a language model gave no answer.
#[derive(Debug, thiserror::Error)]
#[error("the language model gave no answer: {why}")]
pub struct ChatError {
    /// Why.
    pub why: String,
}
