//! Validated addresses of model servers.

use ureq::http::Uri;

/// The last part of the URL path for each API.
pub(super) const EMBEDDINGS: &str = "/embeddings";
pub(super) const CHAT: &str = "/chat/completions";

/// The address of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// The URL with scheme and path, without secrets.
    pub(super) url: String,
    /// Host, port and path, without the part of the API.
    pub(super) place: String,
}

impl Endpoint {
    /// Parses a base URL that may or may not end with `service`.
    ///
    /// # Errors
    /// A description of the defect. It does not contain the address, because the address may contain a password.
    pub(super) fn parse(base_url: &str, service: &str) -> Result<Self, &'static str> {
        let uri: Uri = base_url.trim().parse().map_err(|_| "it is not a URL")?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err("it must begin with http:// or https:// and a host");
        };
        if !matches!(scheme, "http" | "https") {
            return Err("it must begin with http:// or https://");
        }
        if authority.as_str().contains('@') {
            return Err("it contains a user name or a password");
        }
        if uri.query().is_some() || base_url.contains('#') {
            return Err("it has a query or a fragment");
        }
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix(service).unwrap_or(path);
        let place = format!("{}{path}", authority.as_str().to_ascii_lowercase());
        Ok(Self {
            url: format!("{scheme}://{place}{service}"),
            place,
        })
    }

    /// Returns whether the server needs a valid TLS certificate.
    pub(super) fn uses_https(&self) -> bool {
        self.url.starts_with("https:")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_path_is_found_however_it_is_written() {
        for (base_url, url) in [
            (
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/embeddings",
            ),
            (
                " http://LOCALHOST:11434/v1/ ",
                "http://localhost:11434/v1/embeddings",
            ),
            (
                "http://localhost:8080/v1/embeddings",
                "http://localhost:8080/v1/embeddings",
            ),
            ("http://[::1]:80", "http://[::1]:80/embeddings"),
        ] {
            assert_eq!(
                Endpoint::parse(base_url, EMBEDDINGS)
                    .expect("it is an address")
                    .url,
                url
            );
        }
        let chat = Endpoint::parse("https://host/openai/v1/chat/completions/", CHAT)
            .expect("it is an address");
        assert_eq!(
            (chat.url.as_str(), chat.place.as_str()),
            ("https://host/openai/v1/chat/completions", "host/openai/v1")
        );
    }

    #[test]
    fn an_address_with_secrets_or_without_host_is_refused() {
        for bad in [
            "",
            "localhost",
            "localhost:11434/v1",
            "/v1",
            "ftp://host/v1",
            "https://me:secret@host/v1",
            "https://host/v1?key=secret",
            "https://host/v1#secret",
            "https:///v1",
            "http://a b/",
        ] {
            let why = Endpoint::parse(bad, CHAT).expect_err(bad);
            assert!(!why.contains("secret"));
        }
    }

    proptest! {
        #[test]
        fn no_address_is_too_odd(base_url in "\\PC{0,40}|https?://\\PC{0,20}") {
            let _ = Endpoint::parse(&base_url, CHAT);
        }
    }
}
