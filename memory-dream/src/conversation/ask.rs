//! What a language model is asked about a turn.

use std::sync::Arc;

use memory_core::conversation::{Decision, Entry, Misread, ReadFacts, read_decisions, read_facts, read_summary};
use memory_core::{ChatError, ChatModel, ChatRequest, Message, Purpose, Role};
use serde_json::json;

use super::Prompts;

/// Only so many bytes of what somebody said are shown.
const SHOWN: usize = 16_000;

/// So often is a model asked again whose answer names what is not known.
const RETRIES: usize = 2;

fn request(purpose: &'static str, prompt: &str, data: String, max_tokens: u32) -> ChatRequest {
    let message = |role, content| Message { role, content };
    let messages = vec![message(Role::System, prompt.to_owned()), message(Role::User, data)];
    ChatRequest { purpose: Purpose::of(purpose), messages, max_tokens }
}

/// Asks for the facts in what somebody said.
pub(super) fn facts(chat: &dyn ChatModel, prompts: &Prompts, said: &str) -> Result<ReadFacts, ChatError> {
    let shown = &said[..said.floor_char_boundary(SHOWN)];
    let request = request("facts", &prompts.facts, json!(shown).to_string(), 512);
    chat.answer(&request).map(|answer| read_facts(&answer.text))
}

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub(super) enum Undecided {
    /// There is no answer.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// No answer could be followed.
    #[error(transparent)]
    Misread(#[from] Misread),
}

/// Asks what becomes of known facts and new ones; again, with what is wrong, if an answer cannot be followed.
pub(super) fn decisions(
    chat: &dyn ChatModel,
    prompts: &Prompts,
    known: &[Arc<Entry>],
    facts: &[String],
) -> Result<Vec<Decision>, Undecided> {
    let list: Vec<_> = known.iter().enumerate().map(|(id, entry)| json!({ "id": id, "text": entry.content })).collect();
    let data = json!({ "existing": list, "new": facts }).to_string();
    let mut request = request("reconcile", &prompts.reconcile, data, 1024);
    let mut misread = None;
    for _ in 0..=RETRIES {
        let answer = chat.answer(&request)?.text;
        match read_decisions(&answer, known.len()) {
            Ok(decisions) => return Ok(decisions),
            Err(why) => {
                let complaint = format!("That cannot be followed: {why}. Answer again, with the JSON list alone.");
                request.messages.push(Message { role: Role::Assistant, content: answer });
                request.messages.push(Message { role: Role::User, content: complaint });
                misread = Some(why);
            }
        }
    }
    Err(misread.unwrap_or(Misread { why: "it was not asked".into() }).into())
}

/// Asks for the summary anew.
pub(super) fn summary(
    chat: &dyn ChatModel,
    prompts: &Prompts,
    former: Option<&str>,
    facts: &[String],
) -> Result<Result<String, String>, ChatError> {
    let former = former.map(|former| format!("Previous summary:\n{former}\n\n")).unwrap_or_default();
    let new: Vec<String> = facts.iter().map(|fact| format!("- {fact}\n")).collect();
    let data = format!("{former}New facts:\n{}", new.concat());
    let request = request("summarise", &prompts.summary, data, 1024);
    chat.answer(&request).map(|answer| read_summary(&answer.text))
}
