//! An embedding model on a remote server.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use memory_core::{EmbedError, Embedder, Embedding};

use super::endpoint::{EMBEDDINGS, Endpoint};
use super::request::{self, ModelServer, RequestError};
use super::retry::RetryPolicy;
use super::{ApiKey, RemoteSettings, embeddings_wire as wire};

use crate::model::unit_vector::unit_vector;

/// Maximum size of a response, in bytes. 2,048 vectors of 3,072 numbers have about 130 MB.
const MAX_RESPONSE: u64 = 256 << 20;

/// An embedding model on a server with an `OpenAI`-compatible API, such as Ollama, vLLM or llama.cpp.
///
/// Texts are sent in batches, one batch after the other. If the server is busy, failing or unreachable, a request is
/// retried for a limited time. A response is an error unless it has exactly one finite vector for each text, all of the
/// same length. Redirects are not followed, so texts go only to the configured address. A blank text, which most
/// servers reject, is sent as a full stop.
#[derive(Debug, Clone)]
pub struct RemoteEmbedder {
    identity: String,
    server: ModelServer,
    model: String,
    asked_dimensions: Option<NonZeroUsize>,
    texts_at_once: NonZeroUsize,
    longest_text: NonZeroUsize,
    /// Number of dimensions of the first vector; all other vectors must have the same.
    dimensions: Arc<OnceLock<usize>>,
}

impl RemoteEmbedder {
    /// Creates the client. It sends no request yet.
    ///
    /// # Errors
    /// If the address, the proxy or the certificate file is invalid.
    pub fn new(settings: RemoteSettings) -> Result<Self, EmbedError> {
        let endpoint = Endpoint::parse(&settings.base_url, EMBEDDINGS).map_err(|why| EmbedError {
            why: format!("invalid URL of the embedding model: {why}"),
            hint: Some("a URL looks like https://api.openai.com/v1; set the key separately".into()),
        })?;
        let agent = request::http_client(&endpoint, settings.proxy.as_deref(), settings.certificates.as_deref())
            .map_err(|(why, hint)| EmbedError { why, hint: Some(hint.into()) })?;
        let RemoteSettings { api_key, timeout, tries, first_pause, patience, .. } = settings;
        let size = settings.dimensions.map_or_else(String::new, |dimensions| format!(";{dimensions}"));
        Ok(Self {
            identity: format!("{}@{}{size}", settings.model, endpoint.place),
            server: ModelServer {
                agent,
                endpoint,
                api_key,
                timeout,
                retry: RetryPolicy { tries, first_pause, patience },
                longest_answer: MAX_RESPONSE,
            },
            model: settings.model,
            asked_dimensions: settings.dimensions,
            texts_at_once: settings.texts_at_once,
            longest_text: settings.longest_text,
            dimensions: Arc::default(),
        })
    }

    /// Returns the same model with another API key. Both share their connections.
    #[must_use]
    pub fn with_key(&self, api_key: ApiKey) -> Self {
        Self { server: ModelServer { api_key: Some(api_key), ..self.server.clone() }, ..self.clone() }
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let input: Vec<&str> = texts.iter().map(|text| truncate_text(text, self.longest_text)).collect();
        let dimensions = self.asked_dimensions.map(NonZeroUsize::get);
        let request = wire::EmbeddingsRequest { model: &self.model, input: &input, dimensions };
        let body = serde_json::to_vec(&request).expect("texts and numbers are JSON");
        let answer = self.server.post(&body).map_err(|RequestError { why, hint, .. }| EmbedError { why, hint: Some(hint) })?;
        let vectors = wire::parse_vectors(&answer, texts.len()).map_err(|why| self.response_error(&why))?;
        vectors.iter().map(|vector| self.check_vector(vector)).collect()
    }

    fn check_vector(&self, vector: &[f64]) -> Result<Embedding, EmbedError> {
        let before = *self.dimensions.get_or_init(|| self.asked_dimensions.map_or(vector.len(), NonZeroUsize::get));
        if vector.len() != before {
            return Err(self.response_error(&format!("a vector of {} instead of {before} dimensions", vector.len())));
        }
        unit_vector(vector).ok_or_else(|| self.response_error("a zero or non-finite vector"))
    }

    fn response_error(&self, what: &str) -> EmbedError {
        let hint = "check that the URL is that of an embedding model and that the model name is correct";
        EmbedError { why: self.server.error_text(&format!("responded with {what}")), hint: Some(hint.into()) }
    }
}

impl Embedder for RemoteEmbedder {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for some in texts.chunks(self.texts_at_once.get()) {
            vectors.extend(self.embed_batch(some)?);
        }
        Ok(vectors)
    }
}

/// Returns the part of a text that is sent to the server.
fn truncate_text(text: &str, longest: NonZeroUsize) -> &str {
    if text.trim().is_empty() {
        return ".";
    }
    text.char_indices().nth(longest.get()).map_or(text, |(end, _)| &text[..end])
}
