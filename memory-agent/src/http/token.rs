//! The access token of a server.

use std::fmt;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

/// An access token, sent as `Authorization: Bearer TOKEN`. Its debug output is redacted.
#[derive(Clone)]
pub struct AccessToken(String);

impl AccessToken {
    /// Creates a token; `None` unless it consists of visible ASCII characters.
    pub fn new(text: String) -> Option<Self> {
        let is_fine = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_fine.then_some(Self(text))
    }

    /// Returns whether a request carries this token, in constant time.
    pub(super) fn matches(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).map(axum::http::HeaderValue::as_bytes).unwrap_or_default();
        let Some((scheme, given)) = given.split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(given.ct_eq(self.0.as_bytes()))
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_whole_or_not_at_all() {
        let token = AccessToken::new("s3cret".into()).expect("one");
        let knows = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, text.parse().expect("a header"));
            token.matches(&headers)
        };
        assert!(knows("Bearer s3cret") && knows("bearer s3cret"));
        for wrong in [
            "",
            "s3cret",
            "Bearer",
            "Bearer ",
            "Bearer s3cre",
            "Bearer s3cret1",
            "Bearer S3cret",
            "Basic s3cret",
            "Bearer  s3cret",
        ] {
            assert!(!knows(wrong), "{wrong}");
        }
        assert!(!token.matches(&HeaderMap::new()));
        assert!(["", "a b", "ä", "a\n"].iter().all(|text| AccessToken::new((*text).into()).is_none()));
        assert_eq!(format!("{token:?}"), "Token");
    }
}
