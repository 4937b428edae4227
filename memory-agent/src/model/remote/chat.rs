//! How questions become answers.

use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::{Allowance, Answer, ChatError, ChatModel, ChatRequest, Tokens, Trouble};

use super::ChatSettings;
use super::chat_wire::{self as wire, Limit, Odd};
use super::endpoint::{CHAT, Endpoint};
use super::request::{self, Kind, Refusal, Server};
use super::retry::Retry;

/// The longest answer that is read, in bytes. An answer of 100,000 tokens has well below 1 MB.
const LONGEST_ANSWER: u64 = 8 << 20;

/// A language model behind an address, which speaks the protocol of `OpenAI`: Ollama, vLLM, llama.cpp and many others.
///
/// What is busy, broken or out of reach is asked again, for a bounded time, and not before the server wants to be asked. An
/// answer that breaks off, that calls a tool, or that is no text is an error. Redirects are not followed: what is asked
/// goes where the settings say, and nowhere else.
#[derive(Debug)]
pub struct RemoteChat {
    server: Server,
    model: String,
    /// Whether the server has asked for the newer name of the longest answer.
    wants_new_name: AtomicBool,
}

impl RemoteChat {
    /// Returns the model. Nothing is asked yet.
    ///
    /// # Errors
    /// [`ChatError::Unusable`] when the address, the proxy or the file of certificates is none that can be used.
    pub fn new(settings: ChatSettings) -> Result<Self, ChatError> {
        let unusable = |why: String, hint: &str| ChatError::Unusable(Trouble { why, hint: Some(hint.to_owned()) });
        let endpoint = Endpoint::parse(&settings.base_url, CHAT).map_err(|why| {
            let hint = "an address looks like https://api.openai.com/v1; a key is set apart from it";
            unusable(format!("its address cannot be used: {why}"), hint)
        })?;
        let agent = request::agent(&endpoint, settings.proxy.as_deref(), settings.certificates.as_deref());
        let agent = agent.map_err(|(why, hint)| unusable(why, hint))?;
        let ChatSettings { model, api_key, timeout, tries, first_pause, .. } = settings;
        let retry = Retry { tries, first_pause, patience: timeout };
        let server = Server { agent, endpoint, api_key, timeout, retry, longest_answer: LONGEST_ANSWER };
        Ok(Self { server, model, wants_new_name: AtomicBool::default() })
    }

    fn post(&self, request: &ChatRequest) -> Result<Vec<u8>, Refusal> {
        if !self.wants_new_name.load(Ordering::Relaxed) {
            match self.server.post(&wire::request(&self.model, request, Limit::OldName)) {
                Err(refusal) if wants_new_name(&refusal) => self.wants_new_name.store(true, Ordering::Relaxed),
                done => return done,
            }
        }
        self.server.post(&wire::request(&self.model, request, Limit::NewName))
    }

    fn odd(&self, odd: Odd) -> ChatError {
        let trouble = |what: &str, hint: &str| Trouble { why: self.server.says(what), hint: Some(hint.to_owned()) };
        match odd {
            Odd::Refused { what, tokens } => {
                ChatError::Refused { trouble: trouble(&what, "ask for something else, or name another model"), tokens }
            }
            Odd::Unreadable { what, hint, tokens } => ChatError::Unreadable { trouble: trouble(&what, hint), tokens },
        }
    }
}

impl ChatModel for RemoteChat {
    fn answer(&self, request: &ChatRequest) -> Result<Answer, ChatError> {
        let body = self.post(request).map_err(|refusal| failed(refusal, request))?;
        wire::answer(&body, request).map_err(|odd| self.odd(odd))
    }

    fn allowance(&self) -> Result<Allowance, ChatError> {
        Ok(Allowance::default())
    }
}

/// Newer models of `OpenAI` refuse the name that all others know.
fn wants_new_name(refusal: &Refusal) -> bool {
    refusal.kind == Kind::Refused && refusal.complaint.as_ref().is_some_and(|said| said.contains(wire::NEW_NAME))
}

fn failed(Refusal { kind, why, hint, .. }: Refusal, request: &ChatRequest) -> ChatError {
    let trouble = Trouble { why, hint: Some(hint) };
    match kind {
        Kind::Unreachable => ChatError::Unreachable(trouble),
        Kind::Lost => ChatError::Lost(trouble),
        Kind::Timeout => ChatError::Timeout(trouble),
        Kind::Refused => ChatError::Refused { trouble, tokens: Tokens::default() },
        // It must have been written by somebody.
        Kind::TooLong => ChatError::Unreadable { trouble, tokens: request.estimate() },
    }
}
