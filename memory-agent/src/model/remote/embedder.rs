//! An embedding model on a remote server, with its settings and the JSON of the `OpenAI` embeddings API.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memory_core::secret::without_secrets;
use memory_core::{EmbedError, Embedder, Embedding};
use serde::{Deserialize, Serialize};

use super::endpoint::{EMBEDDINGS, Endpoint};
use super::request::{self, ModelServer, RequestError, RetryPolicy};
use super::{ApiKey, ServerAddress};
use crate::model::unit_vector::unit_vector;

const BATCH_SIZE: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not 0");
const MAX_TEXT: NonZeroUsize = NonZeroUsize::new(8_000).expect("8,000 is not 0");

/// The address, credentials and limits of a remote embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Base URL up to `/embeddings`, such as `https://api.openai.com/v1` or `http://localhost:11434/v1`.
    pub base_url: ServerAddress,
    /// Name of the model on the server.
    pub model: String,
    /// API key, if the server requires one.
    pub api_key: Option<ApiKey>,
    /// Number of dimensions to request, for models that support a choice.
    pub dimensions: Option<NonZeroUsize>,
    /// Maximum number of texts in one request.
    pub texts_at_once: NonZeroUsize,
    /// Maximum number of characters of a text that are sent; the rest does not affect the vector.
    ///
    /// Most servers reject texts that are too long for the model.
    pub longest_text: NonZeroUsize,
    /// Timeout of one attempt.
    pub timeout: Duration,
    /// Maximum total time of a request, including all attempts and the pauses between them.
    pub patience: Duration,
    /// Maximum number of attempts.
    pub tries: u32,
    /// Pause before the second attempt; each further pause is twice as long.
    pub first_pause: Duration,
    /// Proxy server, such as `http://proxy:3128`.
    pub proxy: Option<ServerAddress>,
    /// PEM file with the certificate authorities to trust instead of the built-in Mozilla ones.
    pub certificates: Option<PathBuf>,
}

impl RemoteSettings {
    /// Returns defaults that suit most servers.
    ///
    /// These are 64 texts of at most 8,000 characters per request, 30 s per attempt, and four attempts within 90 s with
    /// a first pause of 0.5 s.
    pub fn new(base_url: impl Into<ServerAddress>, model: &str) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.to_owned(),
            api_key: None,
            dimensions: None,
            texts_at_once: BATCH_SIZE,
            longest_text: MAX_TEXT,
            timeout: Duration::from_secs(30),
            patience: Duration::from_secs(90),
            tries: 4,
            first_pause: Duration::from_millis(500),
            proxy: None,
            certificates: None,
        }
    }
}

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
        let endpoint =
            Endpoint::parse(settings.base_url.expose_secret(), EMBEDDINGS).map_err(|why| {
                EmbedError {
                    why: format!("invalid URL of the embedding model: {why}"),
                    hint: Some(
                        "a URL looks like https://api.openai.com/v1; set the key separately".into(),
                    ),
                }
            })?;
        let agent = request::http_client(
            &endpoint,
            settings.proxy.as_ref(),
            settings.certificates.as_deref(),
        )
        .map_err(|(why, hint)| EmbedError {
            why,
            hint: Some(hint.into()),
        })?;
        let RemoteSettings {
            api_key,
            timeout,
            tries,
            first_pause,
            patience,
            ..
        } = settings;
        let size = settings
            .dimensions
            .map_or_else(String::new, |dimensions| format!(";{dimensions}"));
        Ok(Self {
            identity: format!("{}@{}{size}", settings.model, endpoint.place),
            server: ModelServer {
                agent,
                endpoint,
                api_key,
                timeout,
                retry: RetryPolicy {
                    tries,
                    first_pause,
                    patience,
                },
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
        Self {
            server: ModelServer {
                api_key: Some(api_key),
                ..self.server.clone()
            },
            ..self.clone()
        }
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        // A cut credential might not be found.
        let redacted: Vec<_> = texts.iter().map(|text| without_secrets(text)).collect();
        let input: Vec<&str> = redacted
            .iter()
            .map(|text| truncate_text(text, self.longest_text))
            .collect();
        let dimensions = self.asked_dimensions.map(NonZeroUsize::get);
        let request = EmbeddingsRequest {
            model: &self.model,
            input: &input,
            dimensions,
        };
        let body = serde_json::to_vec(&request).expect("texts and numbers are JSON");
        let answer = self
            .server
            .post(&body)
            .map_err(|RequestError { why, hint, .. }| EmbedError {
                why,
                hint: Some(hint),
            })?;
        let vectors =
            parse_vectors(&answer, texts.len()).map_err(|why| self.response_error(&why))?;
        vectors
            .iter()
            .map(|vector| self.check_vector(vector))
            .collect()
    }

    fn check_vector(&self, vector: &[f64]) -> Result<Embedding, EmbedError> {
        let before = *self.dimensions.get_or_init(|| {
            self.asked_dimensions
                .map_or(vector.len(), NonZeroUsize::get)
        });
        if vector.len() != before {
            return Err(self.response_error(&format!(
                "a vector of {} instead of {before} dimensions",
                vector.len()
            )));
        }
        unit_vector(vector).ok_or_else(|| self.response_error("a zero or non-finite vector"))
    }

    fn response_error(&self, what: &str) -> EmbedError {
        let hint =
            "check that the URL is that of an embedding model and that the model name is correct";
        EmbedError {
            why: self.server.error_text(&format!("responded with {what}")),
            hint: Some(hint.into()),
        }
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
    text.char_indices()
        .nth(longest.get())
        .map_or(text, |(end, _)| &text[..end])
}

/// The JSON body of a request.
#[derive(Debug, Serialize)]
struct EmbeddingsRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct EmbeddingsResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Debug, Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// Returns the vectors of a response in the order of the `count` texts.
///
/// A response may contain the vectors in any order if each has an index. Without indices, the order is that of the
/// texts.
///
/// # Errors
/// A description of the defect in the response.
fn parse_vectors(body: &[u8], count: usize) -> Result<Vec<Vec<f64>>, String> {
    let response: EmbeddingsResponse =
        serde_json::from_slice(body).map_err(|error| format!("no list of vectors ({error})"))?;
    if response.data.len() != count {
        return Err(format!("{} vectors for {count} texts", response.data.len()));
    }
    let mut vectors = vec![None; count];
    let is_numbered = response.data.iter().any(|item| item.index.is_some());
    for (place, item) in response.data.into_iter().enumerate() {
        let index = if is_numbered {
            item.index.unwrap_or(usize::MAX)
        } else {
            place
        };
        match vectors.get_mut(index) {
            Some(vector @ None) => *vector = Some(item.embedding),
            Some(Some(_)) => return Err(format!("two vectors for text {index}")),
            None => return Err("a vector for no text".into()),
        }
    }
    Ok(vectors
        .into_iter()
        .map(|vector| vector.expect("as many vectors as texts, and none twice"))
        .collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vectors_stand_in_the_order_of_their_texts() {
        let of = |body: &str| parse_vectors(body.as_bytes(), 2);
        let both = Ok(vec![vec![1.0, 0.0], vec![0.0, 2.0]]);
        assert_eq!(
            of(
                r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[1,0]}],"model":"m"}"#
            ),
            both
        );
        assert_eq!(
            of(r#"{"data":[{"embedding":[1,0]},{"embedding":[0,2]}]}"#),
            both
        );
    }

    #[test]
    fn anything_else_than_one_vector_for_each_text_is_told() {
        for (body, why) in [
            (
                "",
                "no list of vectors (EOF while parsing a value at line 1 column 0)",
            ),
            (r#"{"data":[]}"#, "0 vectors for 1 texts"),
            (
                r#"{"data":[{"index":1,"embedding":[1]}]}"#,
                "a vector for no text",
            ),
            (
                r#"{"data":[{"embedding":[null]}]}"#,
                "no list of vectors (invalid type: null, expected f64 at line 1 column 27)",
            ),
            (
                r#"{"data":[{"embedding":[NaN]}]}"#,
                "no list of vectors (expected value at line 1 column 24)",
            ),
            (
                r#"{"data":[{"embedding":[1e999]}]}"#,
                "no list of vectors (number out of range at line 1 column 28)",
            ),
        ] {
            assert_eq!(parse_vectors(body.as_bytes(), 1), Err(why.into()), "{body}");
        }
        let twice = r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        assert_eq!(
            parse_vectors(twice.as_bytes(), 2),
            Err("two vectors for text 0".into())
        );
        let half = r#"{"data":[{"index":0,"embedding":[1]},{"embedding":[1]}]}"#;
        assert_eq!(
            parse_vectors(half.as_bytes(), 2),
            Err("a vector for no text".into())
        );
    }

    proptest! {
        #[test]
        fn no_answer_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..200), count in 0..4_usize) {
            let _ = parse_vectors(&body, count);
        }
    }
}
