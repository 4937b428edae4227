//! Extraction of facts from the conversations of an imported source.

use std::sync::Arc;

use memory_core::conversation::{ParsedFacts, is_courtesy};
use memory_core::{ChatModel, FactError, FactExtractor};

use super::ConversationPrompts;
use super::requests::{ModelRequestError, UserMessage, request_batch_facts, request_facts};

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
        let mut facts = vec![Vec::new(); messages.len()];
        let asked: Vec<usize> = (0..messages.len())
            .filter(|number| !is_courtesy(messages[*number]))
            .collect();
        let message = |number: &usize| UserMessage {
            text: messages[*number].to_owned(),
            ..UserMessage::default()
        };
        let batch: Vec<UserMessage> = asked.iter().map(message).collect();
        if !batch.is_empty() {
            for (number, parsed) in asked.iter().zip(self.parsed(&batch)?) {
                facts[*number] = parsed.facts;
            }
        }
        Ok(facts)
    }
}

impl ModelFactExtractor {
    /// Asks for the facts of several messages, or one by one if the response does not tell them apart.
    fn parsed(&self, batch: &[UserMessage]) -> Result<Vec<ParsedFacts>, FactError> {
        let (chat, prompts) = (self.chat.as_ref(), &self.prompts);
        match request_batch_facts(chat, prompts, batch) {
            Err(ModelRequestError::Misread(_)) => batch
                .iter()
                .map(|message| request_facts(chat, prompts, message))
                .collect::<Result<_, _>>()
                .map_err(FactError::Unavailable),
            Err(ModelRequestError::Chat(error)) => Err(FactError::Unavailable(error)),
            Ok(parsed) => Ok(parsed),
        }
    }
}
