//! Extraction of facts from the conversations of an imported source.

use std::sync::Arc;

use memory_core::{ChatModel, FactError, FactExtractor};

use super::ConversationPrompts;
use super::requests::{ModelRequestError, request_batch_facts};

/// Draws facts from messages with a language model.
#[derive(Debug)]
pub struct ModelFactExtractor {
    /// The language model, with its budget.
    pub chat: Arc<dyn ChatModel>,
    /// The prompts; only that for facts is used.
    pub prompts: ConversationPrompts,
}

impl FactExtractor for ModelFactExtractor {
    fn facts(&self, messages: &[&str]) -> Result<Vec<Vec<String>>, FactError> {
        match request_batch_facts(self.chat.as_ref(), &self.prompts, messages) {
            Ok(parsed) => Ok(parsed.into_iter().map(|parsed| parsed.facts).collect()),
            Err(ModelRequestError::Chat(error)) => Err(FactError::Unavailable(error)),
            Err(error @ ModelRequestError::Misread(_)) => {
                Err(FactError::Unusable(error.to_string()))
            }
        }
    }
}
