//! A key, which is never shown.

use std::fmt;
use std::str::FromStr;

/// A key with which a server knows who is asking. It is shown nowhere, not even for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Why a text is no key. It does not say the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an API key has at least one character, and no spaces, line ends or letters outside of ASCII within")]
pub struct ApiKeyError;

impl ApiKey {
    /// Returns the value of the header that carries the key.
    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns the key itself, for a header of a request and nothing that is shown.
    pub fn expose_secret(&self) -> &str {
        &self.0
    }

    /// Returns a text of the server without the key, should it stand there.
    pub(super) fn strike_out(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl FromStr for ApiKey {
    type Err = ApiKeyError;

    /// Space around the key is taken off: a key out of a file mostly has a line end behind it.
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
        let key: ApiKey = " sk-abc123\n".parse().expect("a key may have a line end behind it");
        assert_eq!(format!("{key:?} {key:#?}"), "ApiKey(…) ApiKey(…)");
        assert_eq!(key.bearer(), "Bearer sk-abc123");
        assert_eq!(key.strike_out("wrong key: sk-abc123."), "wrong key: [key].");
        for bad in ["", " \n", "two words", "line\r\nInjected: yes", "schlüssel"] {
            assert_eq!(bad.parse::<ApiKey>(), Err(ApiKeyError), "{bad:?}");
        }
    }
}
