//! The interface of language models for chat.

mod answer;
mod error;
mod json_answer;
mod metered_model;
mod purpose;

pub use answer::{ChatAnswer, TokenUsage};
pub use error::{ChatError, ChatFailure};
pub use json_answer::{JsonAnswerError, parse_json_answer};
pub use metered_model::MeteredModel;
pub use purpose::Purpose;

use std::fmt::Debug;

use serde_json::Value;

use crate::BudgetStatus;

/// A language model. It improves results and is never required.
pub trait ChatModel: Debug + Send + Sync {
    /// Returns the response of the model, which is complete and not empty.
    ///
    /// The response is untrusted: it may be wrong or malicious.
    ///
    /// # Errors
    /// If the model is unreachable, exceeds the timeout, refuses, or returns a response that is truncated or is not
    /// text, and if the day's budget is exhausted.
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError>;

    /// Returns the budget that applies to the model and its remaining part of today. This makes no call.
    ///
    /// # Errors
    /// [`ChatError::Meter`] if the recorded usage cannot be read.
    fn allowance(&self) -> Result<BudgetStatus, ChatError>;
}

/// Methods that every [`ChatModel`] provides.
pub trait ChatModelExt: ChatModel {
    /// Returns the one JSON object or list in the response, as [`parse_json_answer()`] finds it.
    ///
    /// # Errors
    /// Those of [`ChatModel::answer`]; [`ChatError::Unreadable`] if the response contains no such value.
    fn answer_json(&self, request: &ChatRequest) -> Result<Value, ChatError> {
        let ChatAnswer { text, tokens } = self.answer(request)?;
        parse_json_answer(&text).map_err(|JsonAnswerError { why }| {
            let hint = Some("try again, or choose a model that follows the requested format".into());
            ChatError::Unreadable { trouble: ChatFailure { why, hint }, tokens }
        })
    }
}

impl<M: ChatModel + ?Sized> ChatModelExt for M {}

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
        let prompt = self.messages.iter().map(|message| TokenUsage::of(&message.content).saturating_add(MESSAGE_OVERHEAD));
        TokenUsage { prompt: prompt.fold(0, u64::saturating_add), answer: self.max_tokens.into(), estimated: true }
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
