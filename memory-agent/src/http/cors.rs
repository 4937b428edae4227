//! Decides which web pages may call this server (CORS).

use std::fmt;
use std::str::FromStr;

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};

/// The origin of a web page, as sent by browsers.
///
/// For example `http://localhost:3000`, `https://chat.example` or `app://obsidian.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebOrigin(String);

/// The error for a text that is not an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an origin is a scheme, a host and an optional port, for example http://localhost:3000")]
pub struct WebOriginError;

impl FromStr for WebOrigin {
    type Err = WebOriginError;

    /// Accepts a trailing slash. Rejects wildcards and `null`, which any page may send.
    fn from_str(text: &str) -> Result<Self, WebOriginError> {
        let text = text.trim().to_ascii_lowercase();
        let (scheme, host) = text.split_once("://").ok_or(WebOriginError)?;
        let mut letters = scheme.bytes();
        let is_scheme = letters
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
            && letters.all(|letter| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"+-.".contains(&letter)
            });
        let host = host.strip_suffix('/').unwrap_or(host);
        let authority: Authority = host.parse().map_err(|_| WebOriginError)?;
        let is_host =
            !authority.host().is_empty() && !host.contains(['@', '*', ',', '\'', '"', '<', '>']);
        let has_port = host
            .rsplit_once(':')
            .is_none_or(|(_, port)| port.ends_with(']') || authority.port_u16().is_some());
        if !is_scheme || !is_host || !has_port {
            return Err(WebOriginError);
        }
        // Browsers omit the default port.
        let usual = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => "",
        };
        let host = host
            .strip_suffix(usual)
            .filter(|_| authority.port().is_some())
            .unwrap_or(host);
        Ok(Self(format!("{scheme}://{host}")))
    }
}

impl fmt::Display for WebOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The origins with pages that may call this server and read its responses; empty by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedOrigins(pub Vec<WebOrigin>);

/// Number of seconds for which a browser may cache the response to a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");

const PREFLIGHT_VARY: HeaderValue = HeaderValue::from_static(
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
);

/// The request headers that a page may send if its preflight names no headers.
const DEFAULT_HEADERS: HeaderValue = HeaderValue::from_static("authorization, content-type");

/// The response headers of this server that a page may read.
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "memory-error, memory-hits, memory-warning, mcp-session-id, x-request-id",
);

/// Request header of a public page that wants to call a server on a private network.
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

impl AllowedOrigins {
    /// Returns the origin of a request if its pages may call this server.
    pub(super) fn find<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let mut named = headers.get_all(ORIGIN).iter();
        let (Some(value), None) = (named.next(), named.next()) else {
            return None;
        };
        let origin: WebOrigin = value.to_str().ok()?.parse().ok()?;
        self.0.contains(&origin).then_some(value)
    }

    /// Returns a hint on how to allow one more origin, as a sentence without its full stop.
    pub(super) fn add_hint(&self) -> String {
        let listed: Vec<&str> = self
            .0
            .iter()
            .map(|origin| origin.0.as_str())
            .chain(["ORIGIN"])
            .collect();
        let listed = listed.join(",");
        format!(
            "`memory config set http.allowed_origins {listed}` allows pages of ORIGIN after a restart of the server"
        )
    }

    /// Adds the CORS headers of an allowed origin to a response.
    ///
    /// Also marks the response as dependent on the origin, for caches.
    pub(super) fn add_headers(&self, allowed: Option<&HeaderValue>, headers: &mut HeaderMap) {
        if self.0.is_empty() {
            return;
        }
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = allowed {
            add_allow_origin(origin, headers);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
    }
}

fn add_allow_origin(origin: &HeaderValue, headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(
        ACCESS_CONTROL_ALLOW_CREDENTIALS,
        HeaderValue::from_static("true"),
    );
}

/// Returns whether a request is a preflight, which carries neither a token nor a body.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the response to a preflight of an allowed origin.
///
/// All methods are allowed, and the headers that the preflight names.
pub(super) fn preflight_response(origin: &HeaderValue, asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    add_allow_origin(origin, headers);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    let named = asked
        .get(ACCESS_CONTROL_REQUEST_HEADERS)
        .filter(|named| are_header_names(named));
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        named.cloned().unwrap_or(DEFAULT_HEADERS),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    headers.insert(VARY, PREFLIGHT_VARY);
    if asked
        .get(REQUEST_PRIVATE_NETWORK)
        .is_some_and(|value| value == "true")
    {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}

fn are_header_names(value: &HeaderValue) -> bool {
    value.to_str().is_ok_and(|names| {
        names
            .split(',')
            .all(|name| name.trim().parse::<HeaderName>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_and_a_host_and_is_compared_as_browsers_send_it() {
        for (text, origin) in [
            ("http://localhost:3000", "http://localhost:3000"),
            (" HTTPS://Chat.Example/ ", "https://chat.example"),
            ("http://chat.example:80", "http://chat.example"),
            ("https://chat.example:443/", "https://chat.example"),
            ("https://chat.example:80", "https://chat.example:80"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://[::1]", "http://[::1]"),
            ("app://obsidian.md", "app://obsidian.md"),
            ("chrome-extension://abcdefgh", "chrome-extension://abcdefgh"),
        ] {
            assert_eq!(
                text.parse::<WebOrigin>()
                    .map(|origin| origin.to_string())
                    .as_deref(),
                Ok(origin),
                "{text}"
            );
        }
        for wrong in [
            "",
            "*",
            "null",
            "localhost:3000",
            "http://",
            "http:///",
            "://host",
            "http://*",
            "http://*.example",
            "http://host/path",
            "http://host?x",
            "http://host#x",
            "http://me@host",
            "http://host:",
            "http://host:x",
            "http://host:99999",
            "http://a, http://b",
            "http://a b",
            "1http://host",
        ] {
            assert_eq!(wrong.parse::<WebOrigin>(), Err(WebOriginError), "{wrong}");
        }
    }

    #[test]
    fn adding_an_origin_leaves_those_that_are_listed() {
        let allowed = AllowedOrigins(
            ["http://localhost:3000", "app://x"]
                .map(|one| one.parse().expect("an origin"))
                .into(),
        );
        assert!(allowed.add_hint().contains(
            "`memory config set http.allowed_origins http://localhost:3000,app://x,ORIGIN`"
        ));
        assert!(
            AllowedOrigins::default()
                .add_hint()
                .contains("`memory config set http.allowed_origins ORIGIN`")
        );
    }

    #[test]
    fn only_a_listed_origin_that_is_named_once_is_found() {
        let allowed = AllowedOrigins(vec!["http://localhost:3000".parse().expect("one")]);
        let finds = |origins: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for origin in origins {
                headers.append(ORIGIN, HeaderValue::from_static(origin));
            }
            allowed.find(&headers).is_some()
        };
        assert!(finds(&["http://localhost:3000"]) && finds(&["http://LOCALHOST:3000"]));
        for other in [
            &[][..],
            &["null"],
            &["http://localhost:3001"],
            &["https://localhost:3000"],
            &["http://localhost:3000.evil.example"],
            &["http://evil.example"],
            &["http://localhost:3000", "http://localhost:3000"],
        ] {
            assert!(!finds(other), "{other:?}");
        }
        assert!(
            AllowedOrigins::default()
                .find(&HeaderMap::from_iter([(
                    ORIGIN,
                    HeaderValue::from_static("null")
                )]))
                .is_none()
        );
    }
}
