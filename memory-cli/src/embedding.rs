//! The embedding model that the settings name.

use std::env;
use std::sync::Arc;

use memory_agent::model::{ApiKey, LocalEmbedder, RemoteEmbedder, RemoteSettings};
use memory_core::{EmbedError, Embedder, Embedding as Vector};

use crate::config::Embedding;

/// Opens the model that the settings name, if they name one.
pub(crate) fn open(settings: &Embedding) -> Result<Option<Arc<dyn Embedder>>, EmbedError> {
    if let Some(folder) = &settings.model.value {
        return Ok(Some(Arc::new(LocalEmbedder::open(folder, None)?)));
    }
    let Some(base_url) = &settings.base_url.value else { return Ok(None) };
    let name = settings.name.value.as_deref().ok_or_else(|| EmbedError {
        why: "embedding.base_url is set, but not which model to ask for there".into(),
        hint: Some("set embedding.name in config.yaml".into()),
    })?;
    let api_key = settings.api_key_env.value.as_deref().map(api_key).transpose()?;
    let embedder = RemoteEmbedder::new(RemoteSettings { api_key, ..RemoteSettings::new(base_url, name) })?;
    Ok(Some(Arc::new(embedder)))
}

/// Opens it for a search, which goes on with the words alone when the model fails, and says why.
pub(crate) fn open_or_fail_later(settings: &Embedding) -> Option<Arc<dyn Embedder>> {
    open(settings).unwrap_or_else(|EmbedError { why, .. }| Some(Arc::new(Unopened { why })))
}

fn api_key(variable: &str) -> Result<ApiKey, EmbedError> {
    let key = env::var(variable).map_err(|_| EmbedError {
        why: format!("the variable {variable}, which should hold the key, is not set"),
        hint: Some(format!("set {variable}, or correct embedding.api_key_env in config.yaml")),
    })?;
    key.parse().map_err(|error| EmbedError { why: format!("the variable {variable} holds no key: {error}"), hint: None })
}

/// A model that could not be opened.
#[derive(Debug)]
struct Unopened {
    why: String,
}

impl Embedder for Unopened {
    fn identity(&self) -> &'static str {
        "unopened"
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        Err(EmbedError { why: self.why.clone(), hint: None })
    }
}
