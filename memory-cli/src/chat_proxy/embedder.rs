//! The embedding model of a proxy, and the API keys for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory_agent::http::{ClientEmbedder, LastModel, WebOrigin};
use memory_agent::model::{ApiKey, LocalEmbedder, RemoteEmbedder, RemoteSettings};
use memory_core::{EmbedError, Embedder, Embedding};

use super::base_url::normalize_base_url;
use crate::config::Settings;
use crate::embedding;
use crate::failure::Failure;

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
            let usual = RemoteSettings { certificates: settings.environment.certificates.clone(), ..usual };
            let remote = match timeout {
                Some(timeout) => RemoteSettings { timeout, patience: timeout, tries: 1, ..usual },
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
                        && is_same_server(address, upstream) =>
                {
                    let api_key = api_key.cloned();
                    remote(RemoteSettings { api_key, ..RemoteSettings::new(address, name) }).map(Self::at_upstream)
                }
                _ => Ok(Self::Own(embedding::open_lazily(settings))),
            };
        };
        let folder = PathBuf::from(named);
        if folder.is_dir() {
            return Ok(Self::Own(Some(Arc::new(LocalEmbedder::open(&folder, None).map_err(embedder_error)?))));
        }
        let address = settings.proxy.embedding_base_url.value.as_deref().map(|address| normalize_base_url(address).text);
        let address = address.as_deref().unwrap_or(upstream);
        let api_key = key_for(address, upstream, api_key);
        let embedder = remote(RemoteSettings { api_key, ..RemoteSettings::new(address, named) })?;
        Ok(if is_same_server(address, upstream) { Self::at_upstream(embedder) } else { Self::Own(Some(Arc::new(embedder))) })
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
    pub(super) fn for_clients(&self) -> Option<Arc<dyn ClientEmbedder>> {
        match self {
            Self::Own(_) => None,
            Self::AtUpstream(embedder) => Some(Arc::new(ClientKeyEmbedder(RemoteEmbedder::clone(embedder)))),
        }
    }

    /// Returns the model for background work, which uses the key of the last client.
    pub(super) fn into_background(self, last_asked: &LastModel) -> Option<Arc<dyn Embedder>> {
        match self {
            Self::Own(embedder) => embedder,
            Self::AtUpstream(embedder) => {
                Some(Arc::new(LastClientEmbedder { embedder: *embedder, last_asked: last_asked.clone() }))
            }
        }
    }
}

/// Returns whether two addresses have the same origin, so that a key for one is valid for the other.
fn is_same_server(one: &str, other: &str) -> bool {
    let origin = |address: &str| -> Option<WebOrigin> {
        let (scheme, rest) = address.trim().split_once("://")?;
        format!("{scheme}://{}", rest.split('/').next()?).parse().ok()
    };
    origin(one).is_some_and(|own| origin(other) == Some(own))
}

/// Returns `api_key`, the key for `upstream`, if `address` is on the same server.
fn key_for(address: &str, upstream: &str, api_key: Option<&ApiKey>) -> Option<ApiKey> {
    api_key.filter(|_| is_same_server(address, upstream)).cloned()
}

fn embedder_error(error: EmbedError) -> Failure {
    Failure::Store(memory_core::StoreError::Embed(error))
}

struct ClientKeyEmbedder(RemoteEmbedder);

impl ClientEmbedder for ClientKeyEmbedder {
    fn with_key(&self, key: &str) -> Option<Arc<dyn Embedder>> {
        let key = key.parse().ok()?;
        Some(Arc::new(self.0.with_key(key)))
    }
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
        match self.last_asked.get().and_then(|asked| asked.key?.parse().ok()) {
            Some(key) => self.embedder.with_key(key).embed(texts),
            None => self.embedder.embed(texts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_for_one_server_only() {
        let (upstream, key) = ("https://api.example/v1", "sk-test".parse::<ApiKey>().unwrap());
        for same in ["https://api.example/v1", "https://API.example:443/other", " https://api.example "] {
            assert!(is_same_server(same, upstream), "{same}");
            assert!(key_for(same, upstream, Some(&key)).is_some(), "{same}");
        }
        for other in ["http://api.example/v1", "https://api.example:8443/v1", "https://api.example.evil/v1", "api.example", ""] {
            assert!(!is_same_server(other, upstream), "{other}");
            assert!(key_for(other, upstream, Some(&key)).is_none(), "{other}");
        }
    }
}
