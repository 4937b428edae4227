//! An API key that is redacted in all output.

use std::fmt;
use std::str::FromStr;

/// An API key for a model server. `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// The error for an invalid API key. The message does not contain the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an API key consists of one or more visible ASCII characters without spaces")]
pub struct ApiKeyError;

/// The minimum length of a start of a key that is redacted: shorter ones, such as `sk-`, reveal nothing.
const SHORTEST_PART: usize = 4;

impl ApiKey {
    /// Returns the value of the `Authorization` header.
    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns the key in plain text, for use in a request header only. Do not print it.
    pub fn expose_secret(&self) -> &str {
        &self.0
    }

    /// Returns `text`, a message of the server, with each occurrence of the key replaced by `[key]`.
    ///
    /// A start of the key at the end of `text` is replaced too: long messages are cut, perhaps within the key.
    pub(super) fn redact(&self, text: &str) -> String {
        let text = text.replace(&self.0, "[key]");
        let cut = (SHORTEST_PART..self.0.len())
            .rev()
            .find_map(|length| text.strip_suffix(&self.0[..length]));
        cut.map_or_else(|| text.clone(), |before| format!("{before}[key]"))
    }
}

impl FromStr for ApiKey {
    type Err = ApiKeyError;

    /// Parses a key and trims surrounding white space.
    ///
    /// A key from a file usually ends with a line break.
    fn from_str(text: &str) -> Result<Self, ApiKeyError> {
        let key = text.trim();
        let is_sound = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        is_sound.then(|| Self(key.to_owned())).ok_or(ApiKeyError)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_and_never_shown() {
        let key: ApiKey = " sk-abc123\n"
            .parse()
            .expect("a key may have a line end behind it");
        assert_eq!(format!("{key:?} {key:#?}"), "ApiKey(…) ApiKey(…)");
        assert_eq!(key.bearer(), "Bearer sk-abc123");
        assert_eq!(key.redact("wrong key: sk-abc123."), "wrong key: [key].");
        assert_eq!(
            key.redact("wrong key: sk-abc"),
            "wrong key: [key]",
            "cut within the key"
        );
        assert_eq!(key.redact("wrong key: sk-"), "wrong key: sk-");
        for bad in ["", " \n", "two words", "line\r\nInjected: yes", "schlüssel"] {
            assert_eq!(bad.parse::<ApiKey>(), Err(ApiKeyError), "{bad:?}");
        }
    }
}
