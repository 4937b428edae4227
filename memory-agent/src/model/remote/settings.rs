//! Settings of a remote embedding model.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::ApiKey;

const BATCH_SIZE: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not 0");
const MAX_TEXT: NonZeroUsize = NonZeroUsize::new(8_000).expect("8,000 is not 0");

/// The address, credentials and limits of a remote embedding model.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Base URL up to `/embeddings`, such as `https://api.openai.com/v1` or `http://localhost:11434/v1`.
    pub base_url: String,
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
    pub proxy: Option<String>,
    /// PEM file with the certificate authorities to trust instead of the built-in Mozilla ones.
    pub certificates: Option<PathBuf>,
}

impl RemoteSettings {
    /// Returns defaults that suit most servers.
    ///
    /// These are 64 texts of at most 8,000 characters per request, 30 s per attempt, and four attempts within 90 s with
    /// a first pause of 0.5 s.
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
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

impl fmt::Debug for RemoteSettings {
    /// Omits the addresses, because an address may contain a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("RemoteSettings");
        shown.field("model", &self.model).field("api_key", &self.api_key).field("dimensions", &self.dimensions);
        shown.field("texts_at_once", &self.texts_at_once).field("longest_text", &self.longest_text);
        shown.field("timeout", &self.timeout).field("patience", &self.patience);
        shown.field("tries", &self.tries).field("first_pause", &self.first_pause).finish_non_exhaustive()
    }
}
