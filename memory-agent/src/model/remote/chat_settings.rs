//! What a person may set about a language model behind an address.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::ApiKey;

/// Where a language model is, and how patient to be with it.
#[derive(Clone, PartialEq, Eq)]
pub struct ChatSettings {
    /// The address up to `/chat/completions`, such as `https://api.openai.com/v1` or `http://localhost:11434/v1`.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The key, if the server wants one.
    pub api_key: Option<ApiKey>,
    /// How long an answer may take, with all tries and the pauses between them. So a model that says nothing is not asked a
    /// second time, which might have to be paid a second time.
    pub timeout: Duration,
    /// How often a request is tried at most.
    pub tries: u32,
    /// The pause before the second try; each further one is twice as long.
    pub first_pause: Duration,
    /// The proxy to go through, such as `http://proxy:3128`.
    pub proxy: Option<String>,
    /// A file with the certificates, in PEM, of authorities that are trusted instead of those that browsers trust.
    pub certificates: Option<PathBuf>,
}

impl ChatSettings {
    /// Returns settings that suit most servers: four tries in 60 s, and half a second before the second one.
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
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

impl fmt::Debug for ChatSettings {
    /// Leaves out the addresses: as a person has written them, a password may stand in them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ChatSettings");
        shown.field("model", &self.model).field("api_key", &self.api_key).field("timeout", &self.timeout);
        shown.field("tries", &self.tries).field("first_pause", &self.first_pause).finish_non_exhaustive()
    }
}
