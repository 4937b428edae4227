//! What a person may set about a model behind an address.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use super::ApiKey;

const TEXTS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not 0");
const LONGEST_TEXT: NonZeroUsize = NonZeroUsize::new(8_000).expect("8,000 is not 0");

/// Where an embedding model is, and how patient to be with it.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteSettings {
    /// The address up to `/embeddings`, such as `https://api.openai.com/v1` or `http://localhost:11434/v1`.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The key, if the server wants one.
    pub api_key: Option<ApiKey>,
    /// How many numbers a vector shall have, if the model leaves the choice.
    pub dimensions: Option<NonZeroUsize>,
    /// How many texts go into one request.
    pub texts_at_once: NonZeroUsize,
    /// How many characters of a text are sent; the rest of a longer one has no part in its vector. Most servers refuse
    /// what is too long for the model.
    pub longest_text: NonZeroUsize,
    /// How long one try may take.
    pub timeout: Duration,
    /// How long all tries of one request, with the pauses between them, may take together.
    pub patience: Duration,
    /// How often a request is tried at most.
    pub tries: u32,
    /// The pause before the second try; each further one is twice as long.
    pub first_pause: Duration,
    /// The proxy to go through, such as `http://proxy:3128`.
    pub proxy: Option<String>,
    /// A file with the certificates, in PEM, of authorities that are trusted instead of those that browsers trust.
    pub certificates: Option<PathBuf>,
}

impl RemoteSettings {
    /// Returns settings that suit most servers: 64 texts at once of 8,000 characters at most, 30 s for a try, four tries
    /// in 90 s, and half a second before the second one.
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            api_key: None,
            dimensions: None,
            texts_at_once: TEXTS_AT_ONCE,
            longest_text: LONGEST_TEXT,
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
    /// Leaves out the addresses: as a person has written them, a password may stand in them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("RemoteSettings");
        shown.field("model", &self.model).field("api_key", &self.api_key).field("dimensions", &self.dimensions);
        shown.field("texts_at_once", &self.texts_at_once).field("longest_text", &self.longest_text);
        shown.field("timeout", &self.timeout).field("patience", &self.patience);
        shown.field("tries", &self.tries).field("first_pause", &self.first_pause).finish_non_exhaustive()
    }
}
