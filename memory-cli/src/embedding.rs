//! Opens the embedding model that the settings name.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memory_agent::model::{ApiKey, LocalEmbedder, RemoteEmbedder, RemoteSettings};
use memory_agent::socket;
use memory_core::{EmbedError, Embedder, Embedding as Vector};
use serde_json::json;

use crate::config::{EmbeddingChoice, EmbeddingSettings, Environment, Settings};

/// Opens the configured model, if any.
pub(crate) fn open(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>, EmbedError> {
    open_model(&settings.embedding, &settings.environment)
}

fn open_model(
    settings: &EmbeddingSettings,
    environment: &Environment,
) -> Result<Option<Arc<dyn Embedder>>, EmbedError> {
    match &settings.model.value {
        Some(EmbeddingChoice::BuiltIn) => return built_in().map(Some),
        Some(EmbeddingChoice::Folder(folder)) => {
            return Ok(Some(Arc::new(LocalEmbedder::open(folder, None)?)));
        }
        Some(EmbeddingChoice::None) => return Ok(None),
        None => {}
    }
    let Some(base_url) = &settings.base_url.value else {
        return Ok(None);
    };
    let name = settings.name.value.as_deref().ok_or_else(|| EmbedError {
        why: "embedding.base_url is set, but embedding.name is not".into(),
        hint: Some("set embedding.name in config.yaml".into()),
    })?;
    let api_key = settings
        .api_key_env
        .value
        .as_deref()
        .map(|variable| api_key(variable, environment))
        .transpose()?;
    let embedder = RemoteEmbedder::new(RemoteSettings {
        api_key,
        certificates: environment.certificates.clone(),
        ..RemoteSettings::new(base_url.expose_secret(), name)
    })?;
    Ok(Some(Arc::new(embedder)))
}

/// Returns the model that is part of the program, unless it was built without it.
#[cfg_attr(
    feature = "meaning",
    expect(
        clippy::unnecessary_wraps,
        reason = "it fails without the feature `meaning`"
    )
)]
pub(crate) fn built_in() -> Result<Arc<dyn Embedder>, EmbedError> {
    #[cfg(feature = "meaning")]
    return Ok(Arc::new(memory_agent::model::BundledEmbedder::new(None)));
    #[cfg(not(feature = "meaning"))]
    Err(EmbedError {
        why: "this program contains no embedding model".into(),
        hint: Some("set embedding.model to none, or to the folder of a model".into()),
    })
}

/// Returns the built-in model if it is configured; a write then embeds its text.
pub(crate) fn open_built_in(settings: &Settings) -> Option<Arc<dyn Embedder>> {
    let is_configured = settings.embedding.model.value == Some(EmbeddingChoice::BuiltIn);
    is_configured.then(built_in)?.ok()
}

/// Returns the configured model for searches; it is opened on first use.
///
/// If the model fails, a search uses the words only and reports the error.
pub(crate) fn open_lazily(settings: &Settings) -> Option<Arc<dyn Embedder>> {
    let Settings {
        embedding,
        environment,
        ..
    } = settings;
    if let Some(built_in) = open_built_in(settings) {
        return Some(built_in);
    }
    let is_named = embedding.has_model();
    let (settings, environment) = (embedding.clone(), environment.clone());
    is_named.then(|| {
        Arc::new(LazyEmbedder {
            settings,
            environment,
            opened: OnceLock::new(),
            before: built_in().ok(),
        }) as Arc<dyn Embedder>
    })
}

/// Returns the configured model for a short-lived process.
///
/// A daemon of the home has a local model already open, so it is used first.
pub(crate) fn open_via_daemon(settings: &Settings) -> Option<Arc<dyn Embedder>> {
    let is_local = settings.embedding.folder().is_some();
    let own = open_lazily(settings)?;
    if !is_local {
        return Some(own);
    }
    Some(Arc::new(DaemonEmbedder {
        root: settings.root.value.clone(),
        own,
        identity: OnceLock::new(),
    }))
}

/// Timeout of a request to the daemon.
const DAEMON_TIMEOUT: Duration = Duration::from_millis(50);

/// The model of a running daemon, with a fallback to a model in this process.
#[derive(Debug)]
struct DaemonEmbedder {
    /// The home of the daemon.
    root: PathBuf,
    own: Arc<dyn Embedder>,
    /// Identity of the daemon's model, if it has one.
    identity: OnceLock<Option<String>>,
}

impl DaemonEmbedder {
    fn daemon_identity(&self) -> Option<&str> {
        self.identity
            .get_or_init(|| self.request_vectors(&[]).map(|(identity, _)| identity))
            .as_deref()
    }

    /// Sends texts to the daemon; returns `None` if it does not respond in time.
    fn request_vectors(&self, texts: &[&str]) -> Option<(String, Vec<Vector>)> {
        let params = json!({ "texts": texts });
        let mut result = socket::request(&self.root, "embed", &params, DAEMON_TIMEOUT)?;
        let identity = result["identity"]
            .as_str()
            .filter(|identity| !identity.is_empty())?
            .to_owned();
        let vectors: Vec<Vector> = serde_json::from_value(result["vectors"].take()).ok()?;
        (vectors.len() == texts.len()).then_some((identity, vectors))
    }
}

impl Embedder for DaemonEmbedder {
    fn identity(&self) -> &str {
        self.daemon_identity()
            .unwrap_or_else(|| self.own.identity())
    }

    fn predecessor(&self) -> Option<&dyn Embedder> {
        self.own.predecessor()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let Some(there) = self.daemon_identity() else {
            return self.own.embed(texts);
        };
        if let Some((identity, vectors)) = self.request_vectors(texts)
            && identity == there
        {
            return Ok(vectors);
        }
        // Vectors of two different models must not be mixed.
        if self.own.identity() == there {
            return self.own.embed(texts);
        }
        Err(EmbedError {
            why: "the daemon stopped, and its model differs from the configured one".into(),
            hint: None,
        })
    }
}

fn api_key(variable: &str, environment: &Environment) -> Result<ApiKey, EmbedError> {
    let key = environment.variable(variable).ok_or_else(|| EmbedError {
        why: format!("environment variable {variable} is not set; it must contain the API key"),
        hint: Some(format!(
            "set {variable} or correct embedding.api_key_env in config.yaml"
        )),
    })?;
    key.parse().map_err(|error| EmbedError {
        why: format!("environment variable {variable} contains no valid API key: {error}"),
        hint: None,
    })
}

/// A model that is opened on first use.
#[derive(Debug)]
struct LazyEmbedder {
    settings: EmbeddingSettings,
    environment: Environment,
    opened: OnceLock<Result<Arc<dyn Embedder>, EmbedError>>,
    /// The built-in model, the default of the home before this setting.
    before: Option<Arc<dyn Embedder>>,
}

impl LazyEmbedder {
    fn get_or_open(&self) -> Result<&dyn Embedder, &EmbedError> {
        let none = || EmbedError {
            why: "no embedding model is configured".into(),
            hint: None,
        };
        let opened = self
            .opened
            .get_or_init(|| open_model(&self.settings, &self.environment)?.ok_or_else(none));
        opened.as_ref().map(AsRef::as_ref)
    }
}

impl Embedder for LazyEmbedder {
    fn identity(&self) -> &str {
        self.get_or_open().map_or("", Embedder::identity)
    }

    fn predecessor(&self) -> Option<&dyn Embedder> {
        self.before.as_deref()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let opened = self
            .get_or_open()
            .map_err(|EmbedError { why, hint }| EmbedError {
                why: why.clone(),
                hint: hint.clone(),
            });
        opened?.embed(texts)
    }
}
