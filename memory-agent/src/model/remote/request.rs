//! HTTP requests to a model server: their retries, and the classification of their errors.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use chrono::DateTime;
use memory_core::SystemClock;
use serde_json::Value;
use ureq::http::StatusCode;
use ureq::http::header::{DATE, LOCATION, RETRY_AFTER};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use super::endpoint::Endpoint;
use super::{ApiKey, ServerAddress};

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
pub(super) fn http_client(
    endpoint: &Endpoint,
    proxy: Option<&ServerAddress>,
    certificates: Option<&Path>,
) -> Result<Agent, InvalidConfig> {
    let odd_proxy = |_| {
        (
            "invalid URL of the proxy".to_owned(),
            "a proxy URL looks like http://proxy:3128",
        )
    };
    let proxy = proxy
        .map(|address| Proxy::new(address.expose_secret()))
        .transpose()
        .map_err(odd_proxy)?;
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(proxy);
    if let Some(file) = certificates.filter(|_| endpoint.uses_https()) {
        let odd = |why| {
            (
                format!("cannot use the certificates in {}: {why}", file.display()),
                "check the file that SSL_CERT_FILE is set to",
            )
        };
        config = config.tls_config(
            TlsConfig::builder()
                .root_certs(load_authorities(file).map_err(odd)?)
                .build(),
        );
    }
    Ok(config
        .user_agent(concat!("memory/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent())
}

fn load_authorities(file: &Path) -> Result<RootCerts, String> {
    let pem = fs::read(file).map_err(|error| error.to_string())?;
    let certificate = |item| {
        if let PemItem::Certificate(certificate) = item {
            Some(certificate)
        } else {
            None
        }
    };
    let found: Vec<_> = parse_pem(&pem).flatten().filter_map(certificate).collect();
    if found.is_empty() {
        Err("it contains no certificate".to_owned())
    } else {
        Ok(RootCerts::new_with_certs(&found))
    }
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
                RetryDecision::After(asked) => {
                    self.retry.next_pause(failed, asked, start.elapsed())
                }
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
        self.api_key
            .as_ref()
            .map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    fn final_error(&self, failure: AttemptError, tries: u32) -> RequestError {
        let AttemptError {
            kind,
            what,
            hint,
            complaint,
            ..
        } = failure;
        let times = if 1 < tries {
            format!(", {tries} times")
        } else {
            String::new()
        };
        let why = self.error_text(&format!("{}{times}", self.redact_key(&what)));
        RequestError {
            kind,
            why,
            hint,
            complaint: complaint.map(|own| self.redact_key(&own)),
        }
    }

    fn attempt(&self, body: &[u8], timeout: Duration) -> Result<Vec<u8>, AttemptError> {
        // The TLS library panics before 1970.
        if SystemClock::is_wrong() {
            return Err(AttemptError {
                kind: FailureKind::Unreachable,
                what: format!("cannot be queried ({})", SystemClock::WRONG),
                hint: "set the clock".to_owned(),
                complaint: None,
                again: RetryDecision::Never,
            });
        }
        let mut request = self
            .agent
            .post(&self.endpoint.url)
            .content_type("application/json");
        if let Some(key) = &self.api_key {
            request = request.header("Authorization", key.bearer());
        }
        // ureq treats a timeout of 0 as no limit.
        let timeout = timeout.max(Duration::from_millis(1));
        let mut response = request
            .config()
            .timeout_global(Some(timeout))
            .build()
            .send(body)
            .map_err(|error| classify_error(&error))?;
        let status = response.status();
        let header = |name| {
            response
                .headers()
                .get(name)?
                .to_str()
                .ok()
                .map(str::to_owned)
        };
        let asked =
            header(RETRY_AFTER).and_then(|asked| parse_pause(&asked, header(DATE).as_deref()));
        let location = header(LOCATION);
        let body = response
            .body_mut()
            .with_config()
            .limit(self.longest_answer)
            .read_to_vec();
        let answer = body.map_err(|error| classify_error(&error))?;
        if status.is_success() {
            Ok(answer)
        } else {
            Err(classify_status(status, asked, location.as_deref(), &answer))
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing but time tells when a server is ready again"
)]
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
            let is_reached = !matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::HostUnreachable
            );
            let kind = if is_reached {
                FailureKind::Lost
            } else {
                FailureKind::Unreachable
            };
            failure(kind, &format!("cannot be reached ({error})"), running, soon)
        }
        ureq::Error::ConnectionFailed => {
            failure(FailureKind::Unreachable, "cannot be reached", running, soon)
        }
        ureq::Error::BodyExceedsLimit(limit) => {
            let what = format!("responded with more than {limit} bytes");
            failure(
                FailureKind::TooLong,
                &what,
                "check the URL",
                RetryDecision::Never,
            )
        }
        other => {
            let is_reached = matches!(other, ureq::Error::Protocol(_) | ureq::Error::BodyStalled);
            let kind = if is_reached {
                FailureKind::Lost
            } else {
                FailureKind::Unreachable
            };
            let what = format!("cannot be queried ({other})");
            failure(
                kind,
                &what,
                "check the URL, including http:// or https://",
                RetryDecision::Never,
            )
        }
    }
}

/// Classifies a response with an error status; `asked` is the pause from its `Retry-After`.
fn classify_status(
    status: StatusCode,
    asked: Option<Duration>,
    location: Option<&str>,
    body: &[u8],
) -> AttemptError {
    let number = status.as_u16();
    let complaint = error_message(body);
    let said = complaint
        .as_ref()
        .map_or_else(String::new, |complaint| format!(": {complaint}"));
    let (hint, again) = match number {
        300..=399 => {
            // The query and the fragment may contain secrets.
            let place = location
                .and_then(|location| location.split(['?', '#']).next())
                .unwrap_or("another URL");
            let place: String = place
                .chars()
                .filter(char::is_ascii_graphic)
                .take(200)
                .collect();
            let what = format!("redirects to {place} ({number})");
            let hint = "if you trust that URL, configure it".into();
            return AttemptError {
                kind: FailureKind::Refused,
                what,
                hint,
                complaint,
                again: RetryDecision::Never,
            };
        }
        401 | 403 => (
            "check the API key and its access to this model",
            RetryDecision::Never,
        ),
        404 => (
            "check the URL, and that the server has this model",
            RetryDecision::Never,
        ),
        400 | 413 | 422 => (
            "check the name of the model, and send less at once",
            RetryDecision::Never,
        ),
        408 | 425 => ("try again in a moment", RetryDecision::After(asked)),
        429 => (
            "try again later, or ask the provider for a higher limit",
            RetryDecision::After(asked),
        ),
        500..=599 => (
            "try again later, or check the log of the server",
            RetryDecision::After(asked),
        ),
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

/// The limits on attempts and on their total time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RetryPolicy {
    pub(super) tries: u32,
    pub(super) first_pause: Duration,
    pub(super) patience: Duration,
}

impl RetryPolicy {
    /// Returns the pause before the next attempt, or `None` if no attempt remains.
    ///
    /// `failed` is the number of failed attempts, `spent` the time since the first one, and `asked` the pause that the
    /// server requires. Each pause is twice the one before, and at least `asked`. The result is `None` if the pause
    /// would exceed the total time.
    pub(super) fn next_pause(
        &self,
        failed: u32,
        asked: Option<Duration>,
        spent: Duration,
    ) -> Option<Duration> {
        if self.tries <= failed {
            return None;
        }
        let doubled = 2_u32
            .checked_pow(failed.saturating_sub(1))
            .unwrap_or(u32::MAX);
        let pause = self
            .first_pause
            .saturating_mul(doubled)
            .max(asked.unwrap_or_default());
        (spent.saturating_add(pause) < self.patience).then_some(pause)
    }
}

/// Parses a `Retry-After` value: a number of seconds, or a date.
///
/// A date is relative to `answered`, the `Date` header of the response. Without that header the pause is unknown.
fn parse_pause(asked: &str, answered: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = asked.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = |text: &str| DateTime::parse_from_rfc2822(text.trim()).ok();
    // A date in the past means no pause.
    Some(
        moment(asked)?
            .signed_duration_since(moment(answered?)?)
            .to_std()
            .unwrap_or_default(),
    )
}

/// Returns the error message in the body of a failed response, if it contains a readable one.
pub(super) fn error_message(body: &[u8]) -> Option<String> {
    const LONGEST: usize = 200;
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(value) => ["/error/message", "/error", "/message", "/detail"]
            .iter()
            .find_map(|place| value.pointer(place)?.as_str().map(str::to_owned))?,
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    // An HTML page is not a readable message.
    let is_page = text.trim_start().starts_with('<');
    let words: Vec<&str> = text
        .split(|character: char| character.is_whitespace() || character.is_control())
        .collect();
    let line = words
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    (!line.is_empty() && !is_page).then(|| line.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RETRY: RetryPolicy = RetryPolicy {
        tries: 4,
        first_pause: Duration::from_millis(500),
        patience: Duration::from_secs(10),
    };

    #[test]
    fn pauses_double_until_tries_or_patience_are_used_up() {
        let pause = |failed, spent| {
            RETRY
                .next_pause(failed, None, Duration::from_millis(spent))
                .map(|pause| pause.as_millis())
        };
        assert_eq!(
            [pause(1, 0), pause(2, 600), pause(3, 2_000), pause(4, 5_000)],
            [Some(500), Some(1_000), Some(2_000), None]
        );
        assert_eq!(pause(1, 9_500), None, "no patience would be left");
    }

    #[test]
    fn the_server_may_ask_for_more_but_not_for_too_much() {
        let asked =
            |seconds| RETRY.next_pause(1, Some(Duration::from_secs(seconds)), Duration::ZERO);
        assert_eq!(asked(0), Some(Duration::from_millis(500)));
        assert_eq!(asked(3), Some(Duration::from_secs(3)));
        assert_eq!(asked(10), None);
        assert_eq!(asked(u64::MAX), None);
    }

    proptest! {
        #[test]
        fn patience_is_never_overdrawn(tries: u32, first_pause: Duration, patience: Duration, failed: u32, asked: Option<Duration>, spent: Duration) {
            if let Some(pause) = (RetryPolicy { tries, first_pause, patience }).next_pause(failed, asked, spent) {
                prop_assert!(spent + pause < patience && failed < tries);
            }
        }
    }

    const NOW: Option<&str> = Some("Wed, 21 Oct 2026 07:28:00 GMT");

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_moment_to_come() {
        assert_eq!(parse_pause(" 7 ", None), Some(Duration::from_secs(7)));
        assert_eq!(
            parse_pause("Wed, 21 Oct 2026 07:28:30 GMT", NOW),
            Some(Duration::from_secs(30))
        );
        assert_eq!(
            parse_pause("Wed, 21 Oct 2015 07:28:00 GMT", NOW),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn what_is_neither_asks_for_nothing() {
        for asked in ["", "soon", "-1", "1.5", "2026-10-21T07:28:30Z"] {
            assert_eq!(parse_pause(asked, NOW), None, "{asked:?}");
        }
        assert_eq!(parse_pause("Wed, 21 Oct 2026 07:28:30 GMT", None), None);
        assert_eq!(
            parse_pause("Wed, 21 Oct 2026 07:28:30 GMT", Some("today")),
            None
        );
    }

    #[test]
    fn complaints_are_found_where_servers_put_them() {
        let of = |body: &str| error_message(body.as_bytes());
        let says = |text: &str| Some(text.to_owned());
        assert_eq!(
            of(r#"{"error":{"message":"no such model","type":"x"}}"#),
            says("no such model")
        );
        assert_eq!(of(r#"{"error":"no such model"}"#), says("no such model"));
        assert_eq!(of("busy\n\u{1b}[31m  now"), says("busy [31m now"));
        assert_eq!(of("<html><title>502</title>"), None);
        assert_eq!(of(" "), None);
        assert_eq!(of(r#"{"fine":true}"#), None);
        assert_eq!(
            of(&"é".repeat(999)).map(|text| text.chars().count()),
            Some(200)
        );
    }

    proptest! {
        #[test]
        fn no_complaint_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(error_message(&body).is_none_or(|text| !text.chars().any(char::is_control)));
        }
    }
}
