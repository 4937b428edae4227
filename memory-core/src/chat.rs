//! A language model that can be asked.

mod answer;
mod error;
mod json_answer;
mod metered;
mod purpose;

pub use answer::{Answer, Tokens};
pub use error::{ChatError, Trouble};
pub use json_answer::{NoJson, json_answer};
pub use metered::Metered;
pub use purpose::Purpose;

use std::fmt::Debug;

use serde_json::Value;

use crate::Allowance;

/// A language model. It makes answers better and is never required.
pub trait ChatModel: Debug + Send + Sync {
    /// Returns the model's answer, which is whole and not empty.
    ///
    /// What it says is data from elsewhere: it may be wrong, and it may be meant to harm.
    ///
    /// # Errors
    /// When the model cannot be reached, does not answer in time, refuses, or answers with something that is no text or
    /// breaks off; and when the day's budget is used up.
    fn answer(&self, request: &ChatRequest) -> Result<Answer, ChatError>;

    /// Returns the budget that the model keeps to, and what is left of it today. Asking for this costs nothing.
    ///
    /// # Errors
    /// [`ChatError::Meter`] when it cannot be read what was spent.
    fn allowance(&self) -> Result<Allowance, ChatError>;
}

/// What may be asked of every language model.
pub trait ChatModelExt: ChatModel {
    /// Returns the one JSON object or list of the model's answer, as [`json_answer()`] finds it.
    ///
    /// # Errors
    /// Those of [`ChatModel::answer`]; [`ChatError::Unreadable`] when there is no such thing in the answer.
    fn json(&self, request: &ChatRequest) -> Result<Value, ChatError> {
        let Answer { text, tokens } = self.answer(request)?;
        json_answer(&text).map_err(|NoJson { why }| {
            let hint = Some("ask again, or name a model that keeps to the form it is asked for".into());
            ChatError::Unreadable { trouble: Trouble { why, hint }, tokens }
        })
    }
}

impl<M: ChatModel + ?Sized> ChatModelExt for M {}

/// One request to a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRequest {
    /// What the answer is for.
    pub purpose: Purpose,
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// How many tokens the answer may have.
    pub max_tokens: u32,
}

/// How many tokens the frame around each message is taken for.
const FRAME: u64 = 8;

impl ChatRequest {
    /// Returns how many tokens it takes to answer this: what is asked, as [`Tokens::of`] estimates it, and the longest
    /// answer that is allowed.
    pub fn estimate(&self) -> Tokens {
        let prompt = self.messages.iter().map(|message| Tokens::of(&message.content).saturating_add(FRAME));
        Tokens { prompt: prompt.fold(0, u64::saturating_add), answer: self.max_tokens.into(), estimated: true }
    }
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
