//! HTTP requests to a model server, and the classification of their errors.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use ureq::http::StatusCode;
use ureq::http::header::{DATE, LOCATION, RETRY_AFTER};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use super::endpoint::Endpoint;
use super::error_body::error_message;
use super::retry::RetryPolicy;
use super::{ApiKey, retry_after};

/// A model server with its connection pool and limits.
#[derive(Debug, Clone)]
pub(super) struct ModelServer {
    pub(super) agent: Agent,
    pub(super) endpoint: Endpoint,
    pub(super) api_key: Option<ApiKey>,
    pub(super) timeout: Duration,
    pub(super) retry: RetryPolicy,
    /// Maximum size of a response, in bytes.
    pub(super) longest_answer: u64,
}

/// The error of a request after its last attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestError {
    pub(super) kind: FailureKind,
    /// The URL and what failed. It does not contain the API key.
    pub(super) why: String,
    pub(super) hint: String,
    /// The error message of the server, if it refused the request.
    pub(super) complaint: Option<String>,
}

/// The kinds of failed requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// The server could not be reached.
    Unreachable,
    /// The connection broke before the response was complete.
    Lost,
    /// The response did not arrive in time.
    Timeout,
    /// The server refused the request.
    Refused,
    /// The response exceeds the size limit.
    TooLong,
}

/// The error of one attempt.
#[derive(Debug)]
struct AttemptError {
    kind: FailureKind,
    /// The predicate of the error message; the URL is its subject.
    what: String,
    hint: String,
    complaint: Option<String>,
    again: RetryDecision,
}

/// Whether and when to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryDecision {
    Never,
    /// Retry after the pause that the server requires, if any.
    After(Option<Duration>),
}

/// The description of an invalid configuration, and a hint.
pub(super) type InvalidConfig = (String, &'static str);

/// Returns the HTTP client for an endpoint; it does not follow redirects.
///
/// For HTTPS it trusts the certificate authorities in the PEM file `certificates` and skips invalid entries in that
/// file. Without a file, it trusts the built-in Mozilla ones.
///
/// # Errors
/// If the address of the proxy is invalid, or the file has no valid certificate. The message does not contain the
/// address of the proxy, because it may contain a password.
pub(super) fn http_client(endpoint: &Endpoint, proxy: Option<&str>, certificates: Option<&Path>) -> Result<Agent, InvalidConfig> {
    let odd_proxy = |_| ("invalid URL of the proxy".to_owned(), "a proxy URL looks like http://proxy:3128");
    let proxy = proxy.map(Proxy::new).transpose().map_err(odd_proxy)?;
    let mut config = Agent::config_builder().http_status_as_error(false).max_redirects(0).proxy(proxy);
    if let Some(file) = certificates.filter(|_| endpoint.uses_https()) {
        let odd = |why| {
            (format!("cannot use the certificates in {}: {why}", file.display()), "check the file that SSL_CERT_FILE is set to")
        };
        config = config.tls_config(TlsConfig::builder().root_certs(load_authorities(file).map_err(odd)?).build());
    }
    Ok(config.user_agent(concat!("memory/", env!("CARGO_PKG_VERSION"))).build().new_agent())
}

fn load_authorities(file: &Path) -> Result<RootCerts, String> {
    let pem = fs::read(file).map_err(|error| error.to_string())?;
    let certificate = |item| if let PemItem::Certificate(certificate) = item { Some(certificate) } else { None };
    let found: Vec<_> = parse_pem(&pem).flatten().filter_map(certificate).collect();
    if found.is_empty() { Err("it contains no certificate".to_owned()) } else { Ok(RootCerts::new_with_certs(&found)) }
}

impl ModelServer {
    /// Posts `body` and returns the response; retries failed attempts within the limits.
    pub(super) fn post(&self, body: &[u8]) -> Result<Vec<u8>, RequestError> {
        let start = Instant::now();
        let mut failed = 0;
        loop {
            let left = self.retry.patience.saturating_sub(start.elapsed());
            let failure = match self.attempt(body, self.timeout.min(left)) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            failed += 1;
            let pause = match failure.again {
                RetryDecision::Never => None,
                RetryDecision::After(asked) => self.retry.next_pause(failed, asked, start.elapsed()),
            };
            match pause {
                Some(pause) => sleep(pause),
                None => return Err(self.final_error(failure, failed)),
            }
        }
    }

    /// Returns an error message: the URL, then the predicate `what`, with the API key redacted.
    pub(super) fn error_text(&self, what: &str) -> String {
        format!("{} {}", self.endpoint.url, self.redact_key(what))
    }

    fn redact_key(&self, text: &str) -> String {
        self.api_key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    fn final_error(&self, failure: AttemptError, tries: u32) -> RequestError {
        let AttemptError { kind, what, hint, complaint, .. } = failure;
        let times = if 1 < tries { format!(", {tries} times") } else { String::new() };
        let why = self.error_text(&format!("{}{times}", self.redact_key(&what)));
        RequestError { kind, why, hint, complaint: complaint.map(|own| self.redact_key(&own)) }
    }

    fn attempt(&self, body: &[u8], timeout: Duration) -> Result<Vec<u8>, AttemptError> {
        let mut request = self.agent.post(&self.endpoint.url).content_type("application/json");
        if let Some(key) = &self.api_key {
            request = request.header("Authorization", key.bearer());
        }
        // ureq treats a timeout of 0 as no limit.
        let timeout = timeout.max(Duration::from_millis(1));
        let mut response =
            request.config().timeout_global(Some(timeout)).build().send(body).map_err(|error| classify_error(&error))?;
        let status = response.status();
        let header = |name| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let asked = header(RETRY_AFTER).and_then(|asked| retry_after::parse_pause(&asked, header(DATE).as_deref()));
        let location = header(LOCATION);
        let body = response.body_mut().with_config().limit(self.longest_answer).read_to_vec();
        let answer = body.map_err(|error| classify_error(&error))?;
        if status.is_success() { Ok(answer) } else { Err(classify_status(status, asked, location.as_deref(), &answer)) }
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing but time tells when a server is ready again")]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}

/// Classifies an error of the HTTP client.
fn classify_error(error: &ureq::Error) -> AttemptError {
    let failure = |kind, what: &str, hint: &str, again| AttemptError {
        kind,
        what: what.to_owned(),
        hint: hint.to_owned(),
        complaint: None,
        again,
    };
    let soon = RetryDecision::After(None);
    let running = "check that the server is running and that the URL is correct";
    match error {
        ureq::Error::Timeout(_) => failure(
            FailureKind::Timeout,
            "did not respond in time",
            "check the load of the server, or increase the timeout",
            soon,
        ),
        ureq::Error::HostNotFound => {
            let hint = "check the URL and the network connection";
            failure(FailureKind::Unreachable, "has an unknown host", hint, soon)
        }
        ureq::Error::Io(error) if error.kind() != io::ErrorKind::InvalidData => {
            let is_reached = !matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::HostUnreachable);
            let kind = if is_reached { FailureKind::Lost } else { FailureKind::Unreachable };
            failure(kind, &format!("cannot be reached ({error})"), running, soon)
        }
        ureq::Error::ConnectionFailed => failure(FailureKind::Unreachable, "cannot be reached", running, soon),
        ureq::Error::BodyExceedsLimit(limit) => {
            let what = format!("responded with more than {limit} bytes");
            failure(FailureKind::TooLong, &what, "check the URL", RetryDecision::Never)
        }
        other => {
            let is_reached = matches!(other, ureq::Error::Protocol(_) | ureq::Error::BodyStalled);
            let kind = if is_reached { FailureKind::Lost } else { FailureKind::Unreachable };
            let what = format!("cannot be queried ({other})");
            failure(kind, &what, "check the URL, including http:// or https://", RetryDecision::Never)
        }
    }
}

/// Classifies a response with an error status; `asked` is the pause from its `Retry-After`.
fn classify_status(status: StatusCode, asked: Option<Duration>, location: Option<&str>, body: &[u8]) -> AttemptError {
    let number = status.as_u16();
    let complaint = error_message(body);
    let said = complaint.as_ref().map_or_else(String::new, |complaint| format!(": {complaint}"));
    let (hint, again) = match number {
        300..=399 => {
            // The query and the fragment may contain secrets.
            let place = location.and_then(|location| location.split(['?', '#']).next()).unwrap_or("another URL");
            let place: String = place.chars().filter(char::is_ascii_graphic).take(200).collect();
            let what = format!("redirects to {place} ({number})");
            let hint = "if you trust that URL, configure it".into();
            return AttemptError { kind: FailureKind::Refused, what, hint, complaint, again: RetryDecision::Never };
        }
        401 | 403 => ("check the API key and its access to this model", RetryDecision::Never),
        404 => ("check the URL, and that the server has this model", RetryDecision::Never),
        400 | 413 | 422 => ("check the name of the model, and send less at once", RetryDecision::Never),
        408 | 425 => ("try again in a moment", RetryDecision::After(asked)),
        429 => ("try again later, or ask the provider for a higher limit", RetryDecision::After(asked)),
        500..=599 => ("try again later, or check the log of the server", RetryDecision::After(asked)),
        _ => ("check the URL", RetryDecision::Never),
    };
    AttemptError {
        kind: FailureKind::Refused,
        what: format!("responded with status {number}{said}"),
        hint: hint.into(),
        complaint,
        again,
    }
}
