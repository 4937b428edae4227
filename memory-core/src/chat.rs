//! The interface of language models for chat: requests, answers and errors.

mod answer;
mod json_answer;
mod metered_model;

pub use answer::{ChatAnswer, ChatMessage, ChatRequest, ChatRole, Purpose, TokenUsage};
pub use json_answer::{JsonAnswerError, parse_json_answer};
pub use metered_model::MeteredModel;

use std::fmt::Debug;

use crate::{BudgetExceeded, BudgetStatus, Code, LlmUsage, MeterError, StoreError};

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

/// The reason why a language model returned no response.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The configuration of the model is incomplete or invalid.
    #[error("the language model cannot be used: {}", .0.why)]
    Unusable(ChatFailure),
    /// No connection to the model could be established.
    #[error("the request to the language model failed: {}", .0.why)]
    Unreachable(ChatFailure),
    /// The connection failed after the request was sent and before the response was complete.
    #[error("the request to the language model failed: {}", .0.why)]
    Lost(ChatFailure),
    /// The request was sent, and the response did not arrive before the timeout.
    #[error("the request to the language model failed: {}", .0.why)]
    Timeout(ChatFailure),
    /// The model or its provider refused the request.
    #[error("the request to the language model failed: {}", trouble.why)]
    Refused {
        /// The reason, and the next step for the user.
        trouble: ChatFailure,
        /// The token usage.
        tokens: TokenUsage,
    },
    /// The response is incomplete or does not have the requested form.
    #[error("the answer of the language model cannot be used: {}", trouble.why)]
    Unreadable {
        /// The reason, and the next step for the user.
        trouble: ChatFailure,
        /// The token usage.
        tokens: TokenUsage,
    },
    /// No request was sent, because it might exceed the rest of the day's budget.
    #[error(transparent)]
    Exhausted(#[from] BudgetExceeded),
    /// No request was sent, because its cost cannot be recorded.
    #[error("the language model was not called, because its usage cannot be recorded")]
    Meter(#[source] StoreError),
}

/// The reason for a failure of a language model, and the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatFailure {
    /// The reason.
    pub why: String,
    /// The next step for the user, if there is one.
    pub hint: Option<String>,
}

impl ChatError {
    /// Returns the permanent error code.
    pub fn code(&self) -> Code {
        match self {
            Self::Unusable(_) => Code::ConfigInvalid,
            Self::Unreachable(_) | Self::Lost(_) => Code::ModelFailed,
            Self::Timeout(_) => Code::ModelTimeout,
            Self::Refused { .. } => Code::ModelRefused,
            Self::Unreadable { .. } => Code::ModelUnreadable,
            Self::Exhausted(_) => Code::BudgetExhausted,
            Self::Meter(error) => error.code(),
        }
    }

    /// Returns the next step for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unusable(trouble)
            | Self::Unreachable(trouble)
            | Self::Lost(trouble)
            | Self::Timeout(trouble) => trouble.hint.clone(),
            Self::Refused { trouble, .. } | Self::Unreadable { trouble, .. } => {
                trouble.hint.clone()
            }
            Self::Exhausted(shortage) => Some(shortage.hint()),
            Self::Meter(error) => error.hint(),
        }
    }

    /// Returns the cost of the failure, where `reserved` was reserved for the request.
    ///
    /// After a lost connection or a timeout the provider may still have processed the request and may charge for it, so the whole
    /// reservation counts.
    fn cost(&self, reserved: LlmUsage) -> LlmUsage {
        match self {
            Self::Unusable(_) | Self::Unreachable(_) | Self::Exhausted(_) | Self::Meter(_) => {
                LlmUsage::default()
            }
            Self::Lost(_) | Self::Timeout(_) => reserved,
            Self::Refused { tokens, .. } | Self::Unreadable { tokens, .. } => {
                LlmUsage::from_call(*tokens)
            }
        }
    }
}

impl From<MeterError> for ChatError {
    fn from(error: MeterError) -> Self {
        match error {
            MeterError::Exhausted(shortage) => Self::Exhausted(shortage),
            MeterError::Store(error) => Self::Meter(error),
        }
    }
}
