//! Reads request bodies within a memory budget.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use http_body_util::BodyExt;
use memory_core::Code;
use memory_core::json::{JsonError, JsonText};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::client_body::LateBody;
use super::response::ErrorResponse;
use crate::exact_json::replace_lone_surrogates;

/// Unit in which bodies are counted, in bytes.
const PERMIT_SIZE: usize = 1024;

/// Bodies up to this size are read without a permit, so that slow clients do not block all others.
const SMALL_BODY: usize = 64 * 1024;

/// Resource limits of the HTTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Maximum number of open connections of one user of this machine, or of one address. All together have at most twice as many.
    pub connections: usize,
    /// Maximum number of requests that are processed at the same time; others wait.
    pub workers: usize,
    /// Maximum size of a request body, in bytes.
    pub body: usize,
    /// Maximum total size of request bodies in memory, in bytes; others wait to be read.
    pub bodies: usize,
    /// Maximum time to receive the headers of a request, and maximum idle time of a connection.
    pub head_time: Duration,
    /// Maximum time to wait for the body of a request, in total; a body that the chat proxy passes on may take longer at 16 KiB per second.
    pub body_time: Duration,
    /// Maximum time for which sent data may stay unacknowledged.
    pub read_time: Duration,
    /// Time that running requests get after shutdown was requested.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 2048,
            workers: 64,
            body: 16 << 20,
            bodies: 32 << 20,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            read_time: Duration::from_secs(30),
            drain: Duration::from_secs(30),
        }
    }
}

/// The memory budget for the bodies of all requests.
#[derive(Debug, Clone)]
pub(crate) struct BodyBudget {
    parts: Arc<Semaphore>,
    limits: HttpLimits,
}

/// A body with its permit.
#[derive(Debug)]
pub(crate) struct BufferedBody {
    pub bytes: Bytes,
    _place: Option<OwnedSemaphorePermit>,
}

impl From<LateBody> for ErrorResponse {
    fn from(late: LateBody) -> Self {
        Self::new(
            Code::RequestTimeout,
            late.to_string(),
            "send the request again",
        )
    }
}

impl BodyBudget {
    pub(crate) fn new(limits: HttpLimits) -> Self {
        Self {
            parts: Arc::new(Semaphore::new(limits.bodies.max(limits.body) / PERMIT_SIZE)),
            limits,
        }
    }

    /// Reads a body of at most `longest` bytes, once the budget allows it. The time is limited by the body itself.
    pub(crate) async fn read(
        &self,
        body: Body,
        longest: usize,
    ) -> Result<BufferedBody, ErrorResponse> {
        let too_long = || {
            let message = format!("the body is longer than {longest} bytes");
            ErrorResponse::new(Code::LimitExceeded, message, "send it in several requests")
        };
        let announced = body
            .size_hint()
            .exact()
            .map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        if announced.is_some_and(|size| longest < size) {
            return Err(too_long());
        }
        let broken = |error: axum::Error| match LateBody::find(&error) {
            Some(late) => ErrorResponse::from(late),
            None => ErrorResponse::new(
                Code::InvalidInput,
                format!("the body was cut off: {error}"),
                "send the request again",
            ),
        };
        let (mut body, mut read, mut place) = (
            body,
            Vec::with_capacity(announced.unwrap_or(0).min(SMALL_BODY)),
            None,
        );
        loop {
            // A body of unknown length reserves the maximum as soon as it is no longer small.
            if place.is_none() && SMALL_BODY < announced.unwrap_or(read.len()) {
                place = Some(self.acquire(announced.unwrap_or(longest)).await?);
            }
            let Some(frame) = body.frame().await else {
                return Ok(BufferedBody {
                    bytes: read.into(),
                    _place: place,
                });
            };
            let Ok(data) = frame.map_err(broken)?.into_data() else {
                continue;
            };
            if longest - read.len() < data.len() {
                return Err(too_long());
            }
            read.extend_from_slice(&data);
        }
    }

    /// Waits until the other bodies leave `size` bytes of the budget, as long as a body may take.
    async fn acquire(&self, size: usize) -> Result<OwnedSemaphorePermit, ErrorResponse> {
        let parts = u32::try_from(size.div_ceil(PERMIT_SIZE)).expect("bodies are below 4 TiB");
        let free = Arc::clone(&self.parts).acquire_many_owned(parts);
        let Ok(free) = timeout(self.limits.body_time, free).await else {
            let message = format!(
                "the bodies of other requests took all of their memory for {} s",
                self.limits.body_time.as_secs()
            );
            return Err(ErrorResponse::new(
                Code::Overloaded,
                message,
                "try again later",
            ));
        };
        Ok(free.expect("the room is never closed"))
    }

    /// Reads a body as a JSON object of parameters; an empty body is an empty object.
    pub(super) async fn read_parameters(
        &self,
        body: Body,
    ) -> Result<(JsonText, BufferedBody), ErrorResponse> {
        let whole = self.read(body, self.limits.body).await?;
        let refused = |error: JsonError| {
            ErrorResponse::new(
                Code::InvalidJson,
                format!("the body is not valid JSON: {error}"),
                "send an object of parameters",
            )
        };
        let text = str::from_utf8(&whole.bytes).map_err(|error| {
            refused(JsonError::Syntax {
                at: error.valid_up_to(),
                what: "the text is not UTF-8",
            })
        })?;
        let text = if text.trim().is_empty() { "{}" } else { text };
        let text = replace_lone_surrogates(text);
        let object: JsonText = text.parse().map_err(refused)?;
        if object.members().is_none() {
            let hint = r#"send the parameters as {"field": "value"}"#;
            return Err(ErrorResponse::new(
                Code::InvalidInput,
                "the body is not a JSON object",
                hint,
            ));
        }
        Ok((object, whole))
    }
}
