//! Settings of a remote language model.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::ApiKey;

/// The address, credentials and retry limits of a remote language model.
#[derive(Clone, PartialEq, Eq)]
pub struct ChatSettings {
    /// Base URL up to `/chat/completions`.
    ///
    /// Examples are `https://api.openai.com/v1` and `http://localhost:11434/v1`.
    pub base_url: String,
    /// Name of the model on the server.
    pub model: String,
    /// API key, if the server requires one.
    pub api_key: Option<ApiKey>,
    /// Maximum total time of a request, including all attempts and the pauses between them.
    ///
    /// A model that does not respond is therefore not called a second time, which could cost a second time.
    pub timeout: Duration,
    /// Maximum number of attempts.
    pub tries: u32,
    /// Pause before the second attempt; each further pause is twice as long.
    pub first_pause: Duration,
    /// Proxy server, such as `http://proxy:3128`.
    pub proxy: Option<String>,
    /// PEM file with the certificate authorities to trust instead of the built-in Mozilla ones.
    pub certificates: Option<PathBuf>,
}

impl ChatSettings {
    /// Returns defaults that suit most servers: four attempts within 60 s, with a first pause of 0.5 s.
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
    /// Omits the addresses, because an address may contain a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ChatSettings");
        shown.field("model", &self.model).field("api_key", &self.api_key).field("timeout", &self.timeout);
        shown.field("tries", &self.tries).field("first_pause", &self.first_pause).finish_non_exhaustive()
    }
}
