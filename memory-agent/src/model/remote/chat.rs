//! A language model on a remote server, with its settings.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::{
    BudgetStatus, ChatAnswer, ChatError, ChatFailure, ChatModel, ChatRequest, TokenUsage,
};

use super::chat_wire::{self as wire, LimitField, ResponseDefect};
use super::endpoint::{CHAT, Endpoint};
use super::request::{self, FailureKind, ModelServer, RequestError, RetryPolicy};
use super::{ApiKey, ServerAddress};

/// The address, credentials and retry limits of a remote language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSettings {
    /// Base URL up to `/chat/completions`.
    ///
    /// Examples are `https://api.openai.com/v1` and `http://localhost:11434/v1`.
    pub base_url: ServerAddress,
    /// Name of the model on the server.
    pub model: String,
    /// API key, if the server requires one.
    pub api_key: Option<ApiKey>,
    /// Maximum total time of a request, including all attempts and the pauses between them.
    ///
    /// A model that does not respond is therefore not called a second time, which could cost a second time.
    pub timeout: Duration,
    /// Maximum number of attempts.
    pub tries: u32,
    /// Pause before the second attempt; each further pause is twice as long.
    pub first_pause: Duration,
    /// Proxy server, such as `http://proxy:3128`.
    pub proxy: Option<ServerAddress>,
    /// PEM file with the certificate authorities to trust instead of the built-in Mozilla ones.
    pub certificates: Option<PathBuf>,
}

impl ChatSettings {
    /// Returns defaults that suit most servers: four attempts within 60 s, with a first pause of 0.5 s.
    pub fn new(base_url: impl Into<ServerAddress>, model: &str) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.to_owned(),
            api_key: None,
            timeout: Duration::from_mins(1),
            tries: 4,
            first_pause: Duration::from_millis(500),
            proxy: None,
            certificates: None,
        }
    }
}

/// Maximum size of a response, in bytes. A response of 100,000 tokens has well below 1 MB.
const MAX_RESPONSE: u64 = 8 << 20;

/// A language model on a server with an `OpenAI`-compatible API, such as Ollama, vLLM or llama.cpp.
///
/// If the server is busy, failing or unreachable, the request is retried for a limited time and not before the server's
/// `Retry-After`. A response that is truncated, calls a tool or contains no text is an error. Redirects are not
/// followed, so requests go only to the configured address.
#[derive(Debug)]
pub struct RemoteChat {
    server: ModelServer,
    model: String,
    /// Whether the server requires `max_completion_tokens` in place of `max_tokens`.
    wants_new_name: AtomicBool,
}

impl RemoteChat {
    /// Creates the client. It sends no request yet.
    ///
    /// # Errors
    /// [`ChatError::Unusable`] if the address, the proxy or the certificate file is invalid.
    pub fn new(settings: ChatSettings) -> Result<Self, ChatError> {
        let unusable = |why: String, hint: &str| {
            ChatError::Unusable(ChatFailure {
                why,
                hint: Some(hint.to_owned()),
            })
        };
        let endpoint = Endpoint::parse(settings.base_url.expose_secret(), CHAT).map_err(|why| {
            let hint = "a URL looks like https://api.openai.com/v1; set the key separately";
            unusable(format!("its URL is invalid: {why}"), hint)
        })?;
        let agent = request::http_client(
            &endpoint,
            settings.proxy.as_ref(),
            settings.certificates.as_deref(),
        );
        let agent = agent.map_err(|(why, hint)| unusable(why, hint))?;
        let ChatSettings {
            model,
            api_key,
            timeout,
            tries,
            first_pause,
            ..
        } = settings;
        let retry = RetryPolicy {
            tries,
            first_pause,
            patience: timeout,
        };
        let server = ModelServer {
            agent,
            endpoint,
            api_key,
            timeout,
            retry,
            longest_answer: MAX_RESPONSE,
        };
        Ok(Self {
            server,
            model,
            wants_new_name: AtomicBool::default(),
        })
    }

    fn post(&self, request: &ChatRequest) -> Result<Vec<u8>, RequestError> {
        if !self.wants_new_name.load(Ordering::Relaxed) {
            match self.server.post(&wire::build_request(
                &self.model,
                request,
                LimitField::OldName,
            )) {
                Err(refusal) if requires_new_name(&refusal) => {
                    self.wants_new_name.store(true, Ordering::Relaxed);
                }
                done => return done,
            }
        }
        self.server.post(&wire::build_request(
            &self.model,
            request,
            LimitField::NewName,
        ))
    }

    fn response_error(&self, odd: ResponseDefect) -> ChatError {
        let trouble = |what: &str, hint: &str| ChatFailure {
            why: self.server.error_text(what),
            hint: Some(hint.to_owned()),
        };
        match odd {
            ResponseDefect::Refused { what, tokens } => ChatError::Refused {
                trouble: trouble(&what, "change the request, or use another model"),
                tokens,
            },
            ResponseDefect::Unreadable { what, hint, tokens } => ChatError::Unreadable {
                trouble: trouble(&what, hint),
                tokens,
            },
        }
    }
}

impl ChatModel for RemoteChat {
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let body = self
            .post(request)
            .map_err(|refusal| chat_error(refusal, request))?;
        wire::parse_response(&body, request).map_err(|odd| self.response_error(odd))
    }

    fn allowance(&self) -> Result<BudgetStatus, ChatError> {
        Ok(BudgetStatus::default())
    }
}

/// Returns whether the server rejects `max_tokens`, as newer models of `OpenAI` do.
fn requires_new_name(refusal: &RequestError) -> bool {
    refusal.kind == FailureKind::Refused
        && refusal
            .complaint
            .as_ref()
            .is_some_and(|said| said.contains(wire::NEW_NAME))
}

fn chat_error(
    RequestError {
        kind, why, hint, ..
    }: RequestError,
    request: &ChatRequest,
) -> ChatError {
    let trouble = ChatFailure {
        why,
        hint: Some(hint),
    };
    match kind {
        FailureKind::Unreachable => ChatError::Unreachable(trouble),
        FailureKind::Lost => ChatError::Lost(trouble),
        FailureKind::Timeout => ChatError::Timeout(trouble),
        FailureKind::Refused => ChatError::Refused {
            trouble,
            tokens: TokenUsage::default(),
        },
        // The model has generated the response, so its tokens are counted.
        FailureKind::TooLong => ChatError::Unreadable {
            trouble,
            tokens: request.estimate(),
        },
    }
}
