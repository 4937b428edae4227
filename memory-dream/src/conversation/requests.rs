//! Requests to a language model about turns, their custom prompts, and the extraction of facts from imported conversations.

use std::sync::Arc;

use memory_core::conversation::{
    AnswerParseError, ConversationEntry, FactDecision, ParsedFacts, check_summary, is_courtesy,
    parse_decisions, parse_facts, parse_facts_by_message, parse_summary,
};
use memory_core::{
    ChatError, ChatMessage, ChatModel, ChatRequest, ChatRole, FactError, FactExtractor, Purpose,
};
use serde_json::json;

/// Maximum number of bytes of messages in a request, also for several turns together.
pub(super) const SHOWN: usize = 16_000;

/// Maximum number of retries after a response with invalid references.
const MAX_RETRIES: usize = 2;

/// An addition to the facts prompt for requests with several messages.
const BATCH_PROMPT: &str = include_str!("prompts/batch.md");

fn build_request(
    purpose: &'static str,
    prompt: &str,
    data: String,
    max_tokens: u32,
) -> ChatRequest {
    let message = |role, content| ChatMessage { role, content };
    let messages = vec![
        message(ChatRole::System, prompt.to_owned()),
        message(ChatRole::User, data),
    ];
    ChatRequest {
        purpose: Purpose::of(purpose),
        messages,
        max_tokens,
    }
}

/// The reason why there is no usable response.
#[derive(Debug, thiserror::Error)]
pub(super) enum ModelRequestError {
    /// The request failed.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The response cannot be used.
    #[error("the language model's response cannot be applied: {0}")]
    Misread(#[from] AnswerParseError),
}

/// A message of the user.
#[derive(Debug, Clone, Default)]
pub(super) struct UserMessage {
    pub(super) text: String,
    /// The day; empty if unknown.
    pub(super) date: String,
    /// The end of the answer of the assistant before it; empty if there is none.
    pub(super) previous: String,
}

/// Extracts the facts of a message.
pub(super) fn request_facts(
    chat: &dyn ChatModel,
    prompts: &ConversationPrompts,
    said: &UserMessage,
) -> Result<ParsedFacts, ChatError> {
    let mut prompt = prompts.facts.clone();
    if !said.date.is_empty() {
        prompt.extend(["\n\nThe message is of ", &said.date, "."]);
    }
    if !said.previous.is_empty() {
        prompt.push_str(
            " It follows this message of the assistant, which only explains it and holds no facts: ",
        );
        prompt.push_str(&json!(said.previous).to_string());
    }
    let data = json!(truncate_message(&said.text)).to_string();
    let request = build_request("facts", &prompt, data, 512);
    chat.answer(&request)
        .map(|answer| parse_facts(&answer.text))
}

/// Extracts the facts of each of several messages.
pub(super) fn request_batch_facts(
    chat: &dyn ChatModel,
    prompts: &ConversationPrompts,
    said: &[UserMessage],
) -> Result<Vec<ParsedFacts>, ModelRequestError> {
    let item = |(id, said): (usize, &UserMessage)| {
        let mut item = json!({ "id": id, "text": truncate_message(&said.text) });
        for (name, value) in [("date", &said.date), ("previous", &said.previous)] {
            if !value.is_empty() {
                item[name] = json!(value);
            }
        }
        item
    };
    let list: Vec<_> = said.iter().enumerate().map(item).collect();
    let prompt = format!("{}\n\n{}", prompts.facts, BATCH_PROMPT.trim_end());
    let request = build_request(
        "facts",
        &prompt,
        json!(list).to_string(),
        max_answer_tokens(512, said.len(), 128),
    );
    let answer = chat.answer(&request)?;
    Ok(parse_facts_by_message(&answer.text, said.len())?)
}

fn truncate_message(said: &str) -> &str {
    &said[..said.floor_char_boundary(SHOWN)]
}

/// Returns the maximum number of tokens of a response about `count` items.
fn max_answer_tokens(least: u32, count: usize, each: u32) -> u32 {
    u32::try_from(count)
        .unwrap_or(u32::MAX)
        .saturating_mul(each)
        .max(least)
}

/// Decides how new facts change existing facts; retries an invalid response together with the error.
pub(super) fn request_decisions(
    chat: &dyn ChatModel,
    prompts: &ConversationPrompts,
    known: &[Arc<ConversationEntry>],
    facts: &[&str],
) -> Result<Vec<FactDecision>, ModelRequestError> {
    let list: Vec<_> = known
        .iter()
        .enumerate()
        .map(|(id, entry)| json!({ "id": id, "text": entry.content }))
        .collect();
    let data = json!({ "existing": list, "new": facts }).to_string();
    let mut request = build_request(
        "reconcile",
        &prompts.reconcile,
        data,
        max_answer_tokens(1024, facts.len(), 96),
    );
    let mut misread = None;
    for _ in 0..=MAX_RETRIES {
        let answer = chat.answer(&request)?.text;
        match parse_decisions(&answer, known.len()) {
            Ok(decisions) => return Ok(decisions),
            Err(why) => {
                let complaint = format!(
                    "That cannot be followed: {why}. Answer again, with the JSON list alone."
                );
                request.messages.push(ChatMessage {
                    role: ChatRole::Assistant,
                    content: answer,
                });
                request.messages.push(ChatMessage {
                    role: ChatRole::User,
                    content: complaint,
                });
                misread = Some(why);
            }
        }
    }
    Err(misread
        .unwrap_or(AnswerParseError {
            why: "no request was made".into(),
        })
        .into())
}

/// Requests an updated summary.
pub(super) fn request_summary(
    chat: &dyn ChatModel,
    prompts: &ConversationPrompts,
    previous: Option<&str>,
    facts: &[&str],
) -> Result<Result<String, String>, ChatError> {
    let former = previous
        .map(|former| format!("Previous summary:\n{former}\n\n"))
        .unwrap_or_default();
    let new: Vec<String> = facts.iter().map(|fact| format!("- {fact}\n")).collect();
    let data = format!("{former}New facts:\n{}", new.concat());
    let request = build_request("summarise", &prompts.summary, data, 1024);
    let answer = chat.answer(&request)?;
    let check = |text: String| match previous {
        Some(previous) => check_summary(&text, previous, facts).map(|()| text),
        None => Ok(text),
    };
    Ok(parse_summary(&answer.text).and_then(check))
}

/// The system prompts for conversation processing, one per kind of request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPrompts {
    /// The prompt to extract facts from a message of the user.
    pub facts: String,
    /// The prompt to reconcile new facts with existing ones.
    pub reconcile: String,
    /// The prompt to update the summary.
    pub summary: String,
}

impl Default for ConversationPrompts {
    fn default() -> Self {
        let text = |text: &str| text.trim_end().to_owned();
        Self {
            facts: text(include_str!("prompts/facts.md")),
            reconcile: text(include_str!("prompts/reconcile.md")),
            summary: text(include_str!("prompts/summary.md")),
        }
    }
}

impl ConversationPrompts {
    /// Creates prompts from the texts that `read` returns for the names `facts`, `reconcile` and `summary`.
    ///
    /// `read` may return the content of a file in the home. If it returns `None` or a blank text, the default prompt is used.
    pub fn with(read: &dyn Fn(&str) -> Option<String>) -> Self {
        let usual = Self::default();
        let said = |name: &str, usual: String| {
            read(name)
                .filter(|text| !text.trim().is_empty())
                .unwrap_or(usual)
        };
        Self {
            facts: said("facts", usual.facts),
            reconcile: said("reconcile", usual.reconcile),
            summary: said("summary", usual.summary),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_takes_the_place_of_the_usual() {
        let own = |name: &str| match name {
            "facts" => Some("Mine.".to_owned()),
            "summary" => Some(" \n".to_owned()),
            _ => None,
        };
        assert_eq!(
            ConversationPrompts::with(&own),
            ConversationPrompts {
                facts: "Mine.".into(),
                ..ConversationPrompts::default()
            }
        );
    }
}
