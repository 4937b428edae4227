//! The HTTP client for the upstream server of the language model.

use std::error::Error;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs};

use axum::body::{Body, HttpBody};
use axum::http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::request::Parts;
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use webpki_roots::TLS_SERVER_ROOTS;

use memory_core::SystemClock;

use crate::http::client_body::LateBody;
use crate::http::quick_ack::QuickAckConnector;

/// The upstream server of the language model, with the client that connects to it.
///
/// There is no response timeout: generation may take long, and the client decides when to give up. Clones share connections.
#[derive(Clone)]
pub struct Upstream {
    client: Client<HttpsConnector<QuickAckConnector>, Body>,
    base: UpstreamUrl,
    key: Option<HeaderValue>,
}

/// The reasons why the upstream configuration is invalid.
///
/// Messages omit URL and key, which may contain secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// The base URL is invalid.
    #[error("invalid URL of the model server: {0}")]
    Address(&'static str),
    /// The key is not a valid header value.
    #[error("invalid API key of the model server: it cannot be sent in a header")]
    Key,
    /// The certificate file is unusable.
    #[error("cannot use the certificate file of SSL_CERT_FILE: {0}")]
    Certificates(&'static str),
}

impl UpstreamError {
    /// Returns the hint for the user.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Address(_) => "a URL looks like http://localhost:11434/v1",
            Self::Key => "a key is a single line of ASCII characters",
            Self::Certificates(_) => {
                "set SSL_CERT_FILE to a PEM file with certificates, or unset it"
            }
        }
    }
}

/// The reasons why there is no response.
#[derive(Debug)]
pub(super) enum SendError {
    /// No connection could be established.
    Unreachable(String),
    /// The client did not send the body in time.
    Late(LateBody),
    /// The connection broke before a response started.
    BrokenOff,
}

/// Timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Idle connections are closed after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

impl Upstream {
    /// Creates the client for a base URL, such as `https://api.openai.com/v1`.
    ///
    /// Requests without a key of their own use `key`. An HTTPS server must have a certificate of an authority that
    /// browsers trust or that the file `certificates` contains. No connection is made yet.
    ///
    /// # Errors
    /// If the URL, the key or the certificate file is invalid.
    pub fn new(
        base_url: &str,
        key: Option<&str>,
        certificates: Option<&Path>,
    ) -> Result<Self, UpstreamError> {
        let base = UpstreamUrl::parse(base_url)?;
        let key = key
            .map(|key| HeaderValue::try_from(format!("Bearer {key}")))
            .transpose();
        let mut key = key.map_err(|_| UpstreamError::Key)?;
        if let Some(key) = &mut key {
            key.set_sensitive(true);
        }
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let trust = tls_config(certificates.filter(|_| base.scheme == Scheme::HTTPS))?;
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(trust)
            .https_or_http()
            .enable_http1();
        let https = https.wrap_connector(QuickAckConnector(tcp));
        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT);
        Ok(Self {
            client: client.build(https),
            base,
            key,
        })
    }

    /// Returns the base URL: scheme, host and path.
    pub fn base_url(&self) -> String {
        format!(
            "{}://{}{}",
            self.base.scheme, self.base.authority, self.base.path
        )
    }

    /// Returns the host in lower case, with its port.
    pub(super) fn authority(&self) -> &str {
        self.base.authority.as_str()
    }

    /// Returns whether a server that listens at `here` is this upstream.
    ///
    /// May resolve the host name if the ports are equal.
    pub fn is_at(&self, here: SocketAddr) -> bool {
        let usual = if self.base.scheme == Scheme::HTTPS {
            443
        } else {
            80
        };
        let port = self.base.authority.port_u16().unwrap_or(usual);
        if port != here.port() {
            return false;
        }
        let host = self
            .base
            .authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        let Ok(mut found) = (host, port).to_socket_addrs() else {
            return false;
        };
        let is_loopback = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
        found.any(|found| {
            // A server on the unspecified address accepts connections to every address; the unspecified address as
            // target means this machine.
            let everywhere = here.ip().is_unspecified()
                && is_loopback(found.ip())
                && (here.is_ipv6() || found.is_ipv4());
            found == here || everywhere || found.ip().is_unspecified() && here.ip().is_loopback()
        })
    }

    /// Sends a request to the base URL followed by `rest`; returns once response headers are received.
    ///
    /// `with_key` selects whether the client's key is forwarded, and `hop` is added as header that identifies this
    /// proxy.
    pub(super) async fn send(
        &self,
        parts: &Parts,
        rest: &str,
        body: Body,
        hop: (&HeaderName, &HeaderValue),
        with_key: bool,
    ) -> Result<Response<Incoming>, SendError> {
        let uri = self
            .base
            .with(rest)
            .map_err(|error| SendError::Unreachable(error.to_string()))?;
        let mut headers = forwarded_headers(&parts.headers);
        headers.remove(HOST);
        headers.remove(EXPECT);
        if body.size_hint().exact().is_some_and(|length| 0 < length) {
            // The length follows from the body, except for the information that a body is empty.
            headers.remove(CONTENT_LENGTH);
        }
        headers.append(hop.0, hop.1.clone());
        if !with_key {
            headers.remove(AUTHORIZATION);
        }
        if let Some(key) = self
            .key
            .as_ref()
            .filter(|_| !headers.contains_key(AUTHORIZATION))
        {
            headers.insert(AUTHORIZATION, key.clone());
        }
        let mut request = Request::new(body);
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        // The TLS library panics before 1970.
        if SystemClock::is_wrong() {
            return Err(SendError::Unreachable(SystemClock::WRONG.to_owned()));
        }
        self.client.request(request).await.map_err(|error| {
            if error.is_connect() {
                SendError::Unreachable(root_cause(&error))
            } else {
                LateBody::find(&error).map_or(SendError::BrokenOff, SendError::Late)
            }
        })
    }
}

impl fmt::Debug for Upstream {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Upstream")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// Hop-by-hop headers, which apply to a single connection.
const HOP_BY_HOP: [HeaderName; 7] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Returns the headers that are forwarded.
fn forwarded_headers(headers: &HeaderMap) -> HeaderMap {
    let mut passed = headers.clone();
    let named = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    for name in named {
        passed.remove(name.trim());
    }
    for name in HOP_BY_HOP {
        passed.remove(name);
    }
    for name in [
        "keep-alive",
        "proxy-connection",
        "memory-agent",
        "memory-project",
    ] {
        passed.remove(name);
    }
    passed
}

/// Returns the response headers that are forwarded, without the CORS headers of the upstream server.
pub(super) fn response_headers(headers: &HeaderMap) -> HeaderMap {
    let mut passed = forwarded_headers(headers);
    let names: Vec<HeaderName> = passed
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"))
        .cloned()
        .collect();
    for name in names {
        passed.remove(name);
    }
    passed
}

fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// A parsed base URL.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UpstreamUrl {
    scheme: Scheme,
    authority: Authority,
    path: String,
}

impl UpstreamUrl {
    fn parse(base_url: &str) -> Result<Self, UpstreamError> {
        let uri: Uri = base_url
            .trim()
            .parse()
            .map_err(|_| UpstreamError::Address("it is not a URL"))?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(UpstreamError::Address(
                "it must begin with http:// or https:// and a host",
            ));
        };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(UpstreamError::Address(
                "it must begin with http:// or https://",
            ));
        }
        if authority.as_str().contains('@') {
            return Err(UpstreamError::Address(
                "it contains a user name or a password",
            ));
        }
        let path = parts.path_and_query.as_ref();
        if path.is_some_and(|path| path.query().is_some()) || base_url.contains('#') {
            return Err(UpstreamError::Address("it has a query or a fragment"));
        }
        let path = path
            .map_or("", |path| path.path())
            .trim_end_matches('/')
            .to_owned();
        let authority = authority
            .as_str()
            .to_ascii_lowercase()
            .parse()
            .map_err(|_| UpstreamError::Address("it is not a URL"))?;
        Ok(Self {
            scheme,
            authority,
            path,
        })
    }

    fn with(&self, rest: &str) -> Result<Uri, axum::http::Error> {
        let path = format!("{}{rest}", self.path);
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
    }
}

/// Returns a TLS configuration that trusts the authorities of browsers and those in `file`.
///
/// Entries of the file that are not valid certificates are skipped.
///
/// # Errors
/// If the file cannot be read, or contains no valid certificate.
fn tls_config(file: Option<&Path>) -> Result<ClientConfig, UpstreamError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config
        .with_safe_default_protocol_versions()
        .expect("ring knows the usual versions of TLS");
    Ok(config
        .with_root_certificates(load_authorities(file)?)
        .with_no_client_auth())
}

fn load_authorities(file: Option<&Path>) -> Result<RootCertStore, UpstreamError> {
    let mut roots = RootCertStore {
        roots: TLS_SERVER_ROOTS.to_vec(),
    };
    if let Some(file) = file {
        let pem = fs::read(file).map_err(|_| UpstreamError::Certificates("it cannot be read"))?;
        let (added, _) =
            roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
        if added == 0 {
            return Err(UpstreamError::Certificates(
                "it contains no valid certificate",
            ));
        }
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_up_to_what_is_asked_for() {
        let asked = |base: &str| {
            UpstreamUrl::parse(base)
                .expect(base)
                .with("/models?a=b%20c")
                .expect("an address")
                .to_string()
        };
        assert_eq!(
            asked("https://api.openai.com/v1"),
            "https://api.openai.com/v1/models?a=b%20c"
        );
        assert_eq!(
            asked(" http://LOCALHOST:11434/v1/ "),
            "http://localhost:11434/v1/models?a=b%20c"
        );
        assert_eq!(asked("http://[::1]:80"), "http://[::1]:80/models?a=b%20c");
        for bad in [
            "",
            "localhost",
            "/v1",
            "ftp://host/v1",
            "https://me:secret@host",
            "https://host/v1?k=secret",
            "http://h#secret",
        ] {
            assert!(
                !UpstreamUrl::parse(bad)
                    .expect_err(bad)
                    .to_string()
                    .contains("secret")
            );
        }
        assert!(Upstream::new("http://localhost", Some("two\nlines"), None).is_err());
    }

    #[test]
    fn an_address_is_our_own_where_we_are_reached_by_it() {
        let is_at = |base: &str, here: &str| {
            Upstream::new(base, None, None)
                .expect(base)
                .is_at(here.parse().expect(here))
        };
        for own in [
            "http://127.0.0.1:8100/v1",
            "http://LOCALHOST:8100",
            "http://0.0.0.0:8100/v1",
        ] {
            for here in ["127.0.0.1:8100", "0.0.0.0:8100", "[::]:8100"] {
                assert!(is_at(own, here), "{own} {here}");
            }
        }
        assert!(
            is_at("http://[::1]:8100/v1", "[::1]:8100")
                && is_at("https://127.0.0.1", "127.0.0.1:443")
        );
        for other in [
            "http://127.0.0.1:8101/v1",
            "http://127.0.0.2:8100",
            "http://192.0.2.1:8100/v1",
            "http://[::1]:8100",
        ] {
            assert!(!is_at(other, "127.0.0.1:8100"), "{other}");
        }
    }

    #[test]
    fn what_is_between_two_ends_is_not_passed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Between"),
            ("keep-alive", "timeout=5"),
            ("x-between", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "websocket"),
            ("memory-project", "x"),
            ("x-stainless-lang", "python"),
            ("authorization", "Bearer k"),
        ] {
            headers.insert(
                HeaderName::from_static(name),
                value.parse().expect("a value"),
            );
        }
        let names = |headers: HeaderMap| {
            let mut names: Vec<_> = headers.keys().map(ToString::to_string).collect();
            names.sort();
            names
        };
        assert_eq!(
            names(forwarded_headers(&headers)),
            ["authorization", "x-stainless-lang"]
        );
        for name in [
            "access-control-allow-origin",
            "access-control-allow-credentials",
            "access-control-expose-headers",
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static("*"));
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_static("http://localhost:3000"),
            );
        }
        assert_eq!(
            names(response_headers(&headers)),
            ["authorization", "x-stainless-lang"]
        );
    }

    /// An authority that signed no certificates, created for this test.
    const AUTHORITY: &str = "\
        -----BEGIN CERTIFICATE-----\n\
        MIIBdTCCARugAwIBAgIUfHaiR02QsF1tCwFx/MN8qiOa8OIwCgYIKoZIzj0EAwIw\n\
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIxNzU5NDFaGA8yMTI2MTAyOTE3NTk0\n\
        MVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKzB\n\
        7p03SoG5aFdENtzRb6oGF1EChp0Dz7+/PvPPd9UhL5SOJKHkkfXewV/36OBLCgZ4\n\
        5z/sR4glheQc6SnBLYyjUzBRMB0GA1UdDgQWBBTBQEnUTm7QzJO/7ss4Hn2gyr4d\n\
        2DAfBgNVHSMEGDAWgBTBQEnUTm7QzJO/7ss4Hn2gyr4d2DAPBgNVHRMBAf8EBTAD\n\
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIQC0V3bEg+ISmxVwdW5KOymHQ1JxG0RkDdDo\n\
        DKfDd+nRNwIgY62mnqbZr+ryqlR1R8OfSKpZASEUJRGqXHa3KQBDcAs=\n\
        -----END CERTIFICATE-----\n";

    #[test]
    fn whom_browsers_trust_is_trusted_as_well_and_what_is_no_certificate_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let count = |text: &str| {
            let file = folder.path().join("bundle.pem");
            fs::write(&file, text).unwrap();
            load_authorities(Some(&file)).map(|roots| roots.len())
        };
        let browsers = load_authorities(None).unwrap().len();
        assert!(100 < browsers);
        assert_eq!(count(AUTHORITY), Ok(browsers + 1));
        let odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let broken = "-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n";
        assert_eq!(
            count(
                &[
                    odd,
                    broken,
                    AUTHORITY,
                    odd,
                    "-----BEGIN CERTIFICATE-----\nAA"
                ]
                .concat()
            ),
            Ok(browsers + 1)
        );
        for none in ["", "names", odd, broken] {
            assert!(
                count(none)
                    .unwrap_err()
                    .to_string()
                    .contains("SSL_CERT_FILE"),
                "{none}"
            );
        }
        assert!(load_authorities(Some(&folder.path().join("nowhere"))).is_err());
    }
}
