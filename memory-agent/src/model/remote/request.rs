//! How one request is made, and what every kind of failure means.

use std::io;
use std::time::{Duration, Instant};

use memory_core::EmbedError;
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::http::header::{LOCATION, RETRY_AFTER};

use super::retry::Retry;
use super::wire;
use super::{ApiKey, endpoint::Endpoint};

/// The longest answer that is read. 2,048 vectors of 3,072 numbers have some 130 MB.
const LONGEST_ANSWER: u64 = 256 << 20;

/// Somebody to ask.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) agent: Agent,
    pub(super) endpoint: Endpoint,
    pub(super) api_key: Option<ApiKey>,
    pub(super) timeout: Duration,
    pub(super) retry: Retry,
}

/// Why one try failed.
#[derive(Debug)]
struct Failure {
    /// What the endpoint did: a statement without its subject.
    what: String,
    hint: String,
    again: Again,
}

/// Whether another try makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Never,
    /// After this pause, if the server asked for one.
    After(Option<Duration>),
}

impl Server {
    /// Posts `body` and returns the answer, after as many tries as it takes.
    pub(super) fn post(&self, body: &[u8]) -> Result<Vec<u8>, EmbedError> {
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
                Again::Never => None,
                Again::After(asked) => self.retry.pause(failed, asked, start.elapsed()),
            };
            match pause {
                Some(pause) => wait(pause),
                None => return Err(self.give_up(&failure, failed)),
            }
        }
    }

    /// Says that the endpoint did `what`, and what to do about it.
    pub(super) fn error(&self, what: &str, hint: &str) -> EmbedError {
        let what = self.api_key.as_ref().map_or_else(|| what.to_owned(), |key| key.strike_out(what));
        EmbedError { why: format!("{} {what}", self.endpoint.url), hint: Some(hint.to_owned()) }
    }

    fn give_up(&self, failure: &Failure, tries: u32) -> EmbedError {
        let times = if 1 < tries { format!(", {tries} times") } else { String::new() };
        self.error(&format!("{}{times}", failure.what), &failure.hint)
    }

    fn attempt(&self, body: &[u8], timeout: Duration) -> Result<Vec<u8>, Failure> {
        let mut request = self.agent.post(&self.endpoint.url).content_type("application/json");
        if let Some(key) = &self.api_key {
            request = request.header("Authorization", key.bearer());
        }
        // No time at all would mean no limit.
        let timeout = timeout.max(Duration::from_millis(1));
        let mut response = request.config().timeout_global(Some(timeout)).build().send(body).map_err(|error| broken(&error))?;
        let status = response.status();
        let header = |name| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (asked, location) = (header(RETRY_AFTER), header(LOCATION));
        let answer = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec().map_err(|error| broken(&error))?;
        if status.is_success() { Ok(answer) } else { Err(refused(status, asked.as_deref(), location.as_deref(), &answer)) }
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing but time tells when a server is ready again")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

/// Says why there was no answer.
fn broken(error: &ureq::Error) -> Failure {
    let failure = |what: &str, hint: &str, again| Failure { what: what.to_owned(), hint: hint.to_owned(), again };
    let soon = Again::After(None);
    match error {
        ureq::Error::Timeout(_) => failure("did not answer in time", "see whether the server is busy, or allow more time", soon),
        ureq::Error::HostNotFound => {
            failure("is at no host that is known", "see whether the address is right and the network is there", soon)
        }
        ureq::Error::Io(error) if error.kind() != io::ErrorKind::InvalidData => {
            let what = format!("cannot be reached ({error})");
            failure(&what, "see whether the server is running and the address is right", soon)
        }
        ureq::Error::ConnectionFailed => {
            failure("cannot be reached", "see whether the server is running and the address is right", soon)
        }
        ureq::Error::BodyExceedsLimit(_) => {
            failure("answers with more than can be vectors", "see whether the address is right", Again::Never)
        }
        other => {
            let what = format!("cannot be talked to ({other})");
            failure(&what, "see whether the address is right, with http:// or https://", Again::Never)
        }
    }
}

/// Says what an answer with another status than success means.
fn refused(status: StatusCode, asked: Option<&str>, location: Option<&str>, body: &[u8]) -> Failure {
    let number = status.as_u16();
    let complaint = wire::complaint(body).map_or_else(String::new, |complaint| format!(": {complaint}"));
    // A date may stand there as well; then our own pauses have to do.
    let asked = asked.and_then(|asked| asked.trim().parse().ok()).map(Duration::from_secs);
    let (hint, again) = match number {
        300..=399 => {
            // What comes after the path may be secret.
            let place = location.and_then(|location| location.split(['?', '#']).next()).unwrap_or("another address");
            let place: String = place.chars().filter(char::is_ascii_graphic).take(200).collect();
            let what = format!("sends elsewhere, to {place} ({number})");
            return Failure { what, hint: "if you trust that address, set it".into(), again: Again::Never };
        }
        401 | 403 => ("see whether the API key is right and may use this model", Again::Never),
        404 => ("see whether the address is right, and the model there", Again::Never),
        400 | 413 | 422 => ("see whether the model's name is right, and send shorter or fewer texts at once", Again::Never),
        408 | 425 => ("try again in a moment", Again::After(asked)),
        429 => ("try again later, or ask the provider for a higher limit", Again::After(asked)),
        500..=599 => ("try again later, or see what the server's own log says", Again::After(asked)),
        _ => ("see whether the address is right", Again::Never),
    };
    Failure { what: format!("refuses with {number}{complaint}"), hint: hint.into(), again }
}
