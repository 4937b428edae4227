//! The embedding model that the settings name.

use std::env;
use std::sync::{Arc, OnceLock};

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

/// Returns it for a search, which goes on with the words alone when the model fails, and says why. It is opened once there
/// is something that it has read.
pub(crate) fn open_later(settings: &Embedding) -> Option<Arc<dyn Embedder>> {
    let is_named = settings.model.value.is_some() || settings.base_url.value.is_some();
    is_named.then(|| Arc::new(Later { settings: settings.clone(), opened: OnceLock::new() }) as Arc<dyn Embedder>)
}

fn api_key(variable: &str) -> Result<ApiKey, EmbedError> {
    let key = env::var(variable).map_err(|_| EmbedError {
        why: format!("the variable {variable}, which should hold the key, is not set"),
        hint: Some(format!("set {variable}, or correct embedding.api_key_env in config.yaml")),
    })?;
    key.parse().map_err(|error| EmbedError { why: format!("the variable {variable} holds no key: {error}"), hint: None })
}

/// A model that is opened when it is first asked.
#[derive(Debug)]
struct Later {
    settings: Embedding,
    opened: OnceLock<Result<Arc<dyn Embedder>, EmbedError>>,
}

impl Later {
    fn opened(&self) -> Result<&dyn Embedder, &EmbedError> {
        let none = || EmbedError { why: "none is named".into(), hint: None };
        let opened = self.opened.get_or_init(|| open(&self.settings)?.ok_or_else(none));
        opened.as_ref().map(AsRef::as_ref)
    }
}

impl Embedder for Later {
    fn identity(&self) -> &str {
        self.opened().map_or("", Embedder::identity)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let opened = self.opened().map_err(|EmbedError { why, hint }| EmbedError { why: why.clone(), hint: hint.clone() });
        opened?.embed(texts)
    }
}
