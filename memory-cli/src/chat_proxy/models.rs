//! The models of a proxy, their addresses and their API keys.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_agent::http::{ClientEmbedder, ClientModel, LastModel, WebOrigin};
use memory_agent::model::{
    ApiKey, ChatSettings, LocalEmbedder, RemoteChat, RemoteEmbedder, RemoteSettings,
};
use memory_core::{
    BudgetStatus, ChatAnswer, ChatError, ChatFailure, ChatModel, ChatRequest, Clock, EmbedError,
    Embedder, Embedding,
};

use crate::config::Settings;
use crate::embedding;
use crate::failure::Failure;
use crate::language_model;

/// The embedding model of a proxy.
pub(super) enum ProxyEmbedder {
    /// A model that does not use the API keys of clients, or no model.
    Own(Option<Arc<dyn Embedder>>),
    /// A model on the server of the chat model, which uses the API keys of clients.
    AtUpstream(Box<RemoteEmbedder>),
}

impl ProxyEmbedder {
    /// Opens the embedding model of the proxy, or else that of the settings.
    ///
    /// A remote model that is configured for the proxy, or is on the upstream server, uses `timeout` and no retries, if
    /// `timeout` is given.
    pub(super) fn open(
        settings: &Settings,
        upstream: &str,
        api_key: Option<&ApiKey>,
        timeout: Option<Duration>,
    ) -> Result<Self, Failure> {
        let remote = |usual: RemoteSettings| {
            let usual = RemoteSettings {
                certificates: settings.environment.certificates.clone(),
                ..usual
            };
            let remote = match timeout {
                Some(timeout) => RemoteSettings {
                    timeout,
                    patience: timeout,
                    tries: 1,
                    ..usual
                },
                None => usual,
            };
            RemoteEmbedder::new(remote).map_err(embedder_error)
        };
        let Some(named) = &settings.proxy.embedding_model.value else {
            let embedding = &settings.embedding;
            // Without an API key of its own, a model on the upstream server uses the key for the chat model.
            return match (&embedding.base_url.value, &embedding.name.value) {
                (Some(address), Some(name))
                    if embedding.model.value.is_none()
                        && embedding.api_key_env.value.is_none()
                        && is_same_server(address.expose_secret(), upstream) =>
                {
                    let api_key = api_key.cloned();
                    remote(RemoteSettings {
                        api_key,
                        ..RemoteSettings::new(address.expose_secret(), name)
                    })
                    .map(Self::at_upstream)
                }
                _ => Ok(Self::Own(embedding::open_lazily(settings))),
            };
        };
        let folder = PathBuf::from(named);
        if folder.is_dir() {
            return Ok(Self::Own(Some(Arc::new(
                LocalEmbedder::open(&folder, None).map_err(embedder_error)?,
            ))));
        }
        let address = settings
            .proxy
            .embedding_base_url
            .value
            .as_ref()
            .map(|address| normalize_base_url(address.expose_secret()).text);
        let address = address.as_deref().unwrap_or(upstream);
        let api_key = key_for(address, upstream, api_key);
        let embedder = remote(RemoteSettings {
            api_key,
            ..RemoteSettings::new(address, named)
        })?;
        Ok(if is_same_server(address, upstream) {
            Self::at_upstream(embedder)
        } else {
            Self::Own(Some(Arc::new(embedder)))
        })
    }

    fn at_upstream(embedder: RemoteEmbedder) -> Self {
        Self::AtUpstream(Box::new(embedder))
    }

    /// Returns the model with the key of the settings.
    pub(super) fn with_own_key(&self) -> Option<Arc<dyn Embedder>> {
        match self {
            Self::Own(embedder) => embedder.clone(),
            Self::AtUpstream(embedder) => Some(Arc::new(RemoteEmbedder::clone(embedder))),
        }
    }

    /// Returns the model for chat requests, which uses the key of the client.
    pub(super) fn for_clients(&self) -> Option<ClientEmbedder> {
        match self {
            Self::Own(_) => None,
            Self::AtUpstream(embedder) => {
                let embedder = RemoteEmbedder::clone(embedder);
                Some(Arc::new(move |key| {
                    Some(Arc::new(embedder.with_key(key.parse().ok()?)) as _)
                }))
            }
        }
    }

    /// Returns the model for background work, which uses the key of the last client.
    pub(super) fn into_background(self, last_asked: &LastModel) -> Option<Arc<dyn Embedder>> {
        match self {
            Self::Own(embedder) => embedder,
            Self::AtUpstream(embedder) => Some(Arc::new(LastClientEmbedder {
                embedder: *embedder,
                last_asked: last_asked.clone(),
            })),
        }
    }
}

/// Returns whether two addresses have the same origin, so that a key for one is valid for the other.
fn is_same_server(one: &str, other: &str) -> bool {
    let origin = |address: &str| -> Option<WebOrigin> {
        let (scheme, rest) = address.trim().split_once("://")?;
        format!("{scheme}://{}", rest.split('/').next()?)
            .parse()
            .ok()
    };
    origin(one).is_some_and(|own| origin(other) == Some(own))
}

/// Returns `api_key`, the key for `upstream`, if `address` is on the same server.
fn key_for(address: &str, upstream: &str, api_key: Option<&ApiKey>) -> Option<ApiKey> {
    api_key
        .filter(|_| is_same_server(address, upstream))
        .cloned()
}

fn embedder_error(error: EmbedError) -> Failure {
    Failure::Store(memory_core::StoreError::Embed(error))
}

#[derive(Debug)]
struct LastClientEmbedder {
    embedder: RemoteEmbedder,
    last_asked: LastModel,
}

impl Embedder for LastClientEmbedder {
    fn identity(&self) -> &str {
        self.embedder.identity()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        match self
            .last_asked
            .get()
            .and_then(|asked| asked.key?.parse().ok())
        {
            Some(key) => self.embedder.with_key(key).embed(texts),
            None => self.embedder.embed(texts),
        }
    }
}

/// The model of the last chat, with the key of its client.
#[derive(Debug)]
struct LastChatModel {
    base_url: String,
    last_asked: LastModel,
    /// Key for clients that send none.
    api_key: Option<ApiKey>,
    timeout: Duration,
    /// The file of trusted certificate authorities.
    certificates: Option<PathBuf>,
    opened: Mutex<Option<(ClientModel, Arc<RemoteChat>)>>,
}

impl LastChatModel {
    fn get_or_open(&self) -> Result<Arc<RemoteChat>, ChatError> {
        let asked = self.last_asked.get().ok_or_else(|| {
            let why = "no client has used a model yet, and no model is configured".into();
            ChatError::Unreachable(ChatFailure { why, hint: None })
        })?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((model, chat)) = opened.as_ref()
            && *model == asked
        {
            return Ok(Arc::clone(chat));
        }
        let own = asked.key.as_deref().and_then(|key| key.parse().ok());
        let api_key = own.or_else(|| self.api_key.clone());
        let usual = ChatSettings::new(&self.base_url, &asked.name);
        let settings = ChatSettings {
            api_key,
            timeout: self.timeout,
            certificates: self.certificates.clone(),
            ..usual
        };
        let chat = Arc::new(RemoteChat::new(settings)?);
        *opened = Some((asked, Arc::clone(&chat)));
        Ok(chat)
    }
}

impl ChatModel for LastChatModel {
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        self.get_or_open()?.answer(request)
    }

    fn allowance(&self) -> Result<BudgetStatus, ChatError> {
        Ok(BudgetStatus::default())
    }
}

/// Returns the model for fact extraction: that of the settings, or else that of the last chat.
pub(super) fn extraction_model(
    settings: &Settings,
    base_url: &str,
    place: &Path,
    last_asked: &LastModel,
    api_key: Option<ApiKey>,
    clock: &Arc<dyn Clock>,
) -> Arc<dyn ChatModel> {
    if let Some(named) = language_model::open_lazily(settings, Arc::clone(clock)) {
        return named;
    }
    let (upstream, last_asked) = (base_url.to_owned(), last_asked.clone());
    let (timeout, certificates) = (
        settings.llm.timeout.value,
        settings.environment.certificates.clone(),
    );
    let open = move || LastChatModel {
        base_url: upstream.clone(),
        last_asked: last_asked.clone(),
        api_key: api_key.clone(),
        timeout,
        certificates: certificates.clone(),
        opened: Mutex::default(),
    };
    // The budget is independent of the folder of conversations, so that `memory usage` reports it. It is recorded in
    // the home, which is created if necessary. If the home cannot be opened, it is recorded next to the queue, where
    // earlier versions recorded it.
    let roots = [settings.root.value.clone(), place.join(".conversations")];
    let budget = settings.llm.budget_of(Some(&base_url.into()));
    language_model::with_budget(open, roots, settings, budget, Arc::clone(clock))
}

/// The base URL of a server with an `OpenAI`-compatible API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BaseUrl {
    pub(super) text: String,
    /// Message to the user about a correction of the address.
    pub(super) notice: Option<String>,
}

const VERSION_PATH: &str = "/v1";
const CHAT_PATH: &str = "/chat/completions";

/// Normalizes an address: adds `/v1` if it has no path, and removes `/chat/completions`.
///
/// Other parts are unchanged. The client that opens the address reports errors in it.
pub(super) fn normalize_base_url(text: &str) -> BaseUrl {
    let trimmed = text.trim();
    let unchanged = BaseUrl {
        text: trimmed.to_owned(),
        notice: None,
    };
    let Some((_, place)) = trimmed.split_once("://") else {
        return unchanged;
    };
    if place.contains(['?', '#', '@']) {
        // Such an address may contain a secret, so it is not used in a message.
        return unchanged;
    }
    let bare = trimmed.trim_end_matches('/');
    if let Some(base) = bare.strip_suffix(CHAT_PATH) {
        return BaseUrl {
            text: base.to_owned(),
            notice: Some(format!(
                "using the address {base}: {CHAT_PATH} is added automatically"
            )),
        };
    }
    if place.trim_end_matches('/').is_empty() || place.trim_end_matches('/').contains('/') {
        return unchanged;
    }
    let with_version = format!("{bare}{VERSION_PATH}");
    let why = format!(
        "{bare} has no path, so {with_version} is used; for a server without {VERSION_PATH}, specify {bare}{CHAT_PATH}"
    );
    BaseUrl {
        text: with_version,
        notice: Some(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_for_one_server_only() {
        let (upstream, key) = (
            "https://api.example/v1",
            "sk-test".parse::<ApiKey>().unwrap(),
        );
        for same in [
            "https://api.example/v1",
            "https://API.example:443/other",
            " https://api.example ",
        ] {
            assert!(is_same_server(same, upstream), "{same}");
            assert!(key_for(same, upstream, Some(&key)).is_some(), "{same}");
        }
        for other in [
            "http://api.example/v1",
            "https://api.example:8443/v1",
            "https://api.example.evil/v1",
            "api.example",
            "",
        ] {
            assert!(!is_same_server(other, upstream), "{other}");
            assert!(key_for(other, upstream, Some(&key)).is_none(), "{other}");
        }
    }

    #[test]
    fn an_address_without_a_path_gets_the_version_and_any_other_stays() {
        for (text, used) in [
            ("http://localhost:11434", "http://localhost:11434/v1"),
            (" http://localhost:11434/ ", "http://localhost:11434/v1"),
            ("https://api.openai.com//", "https://api.openai.com/v1"),
            ("http://[::1]:80", "http://[::1]:80/v1"),
            (
                "http://localhost:11434/v1/chat/completions",
                "http://localhost:11434/v1",
            ),
            (
                "https://api.example/chat/completions/",
                "https://api.example",
            ),
        ] {
            let base = normalize_base_url(text);
            assert_eq!(base.text, used, "{text}");
            assert!(
                base.notice.is_some_and(|notice| notice.contains(used)),
                "{text}"
            );
        }
        for stays in [
            "http://localhost:11434/v1",
            "http://localhost:11434/v1/",
            "https://host/openai/deployments/gpt",
            "https://host/api",
            "localhost:11434",
            "http://",
            "",
            "http://me:secret@host",
            "http://host?key=secret",
        ] {
            assert_eq!(
                normalize_base_url(stays),
                BaseUrl {
                    text: stays.to_owned(),
                    notice: None
                },
                "{stays}"
            );
        }
    }
}
