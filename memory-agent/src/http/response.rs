//! Builds HTTP responses from results and errors.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CONTENT_TYPE, HeaderValue, TRAILER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use memory_core::text::format_error_chain;
use memory_core::{Code, ToolError};
use serde_json::Value;
use tokio::task::{JoinHandle, spawn_blocking};

use super::status::status;
use crate::instance::{ActionResult, ResultChunk, ResultChunks};
use crate::tools::without_commands;
use crate::{exact_json, json};

/// Response header with the reason why a result is incomplete.
const WARNING: HeaderName = HeaderName::from_static("memory-warning");

/// An error as an HTTP response.
#[derive(Debug)]
pub(crate) struct ErrorResponse(pub ToolError);

impl ErrorResponse {
    /// Creates the response for an error with a hint.
    pub(super) fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self(ToolError::new(code, message, Some(hint.into())))
    }
}

impl<E: Into<ToolError>> From<E> for ErrorResponse {
    fn from(error: E) -> Self {
        let mut error = error.into();
        error.hint = error.hint.and_then(|hint| with_routes(&hint));
        Self(error)
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let status = status(self.0.code);
        let mut response = json_text(exact_json::to_text(&json::tool_error(&self.0)));
        *response.status_mut() = status;
        if status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl IntoResponse for ActionResult {
    fn into_response(self) -> Response {
        let mut response = match self.more {
            None => json_text(self.json),
            Some(more) => {
                let mut response = json_body(Body::new(StreamingBody::new(self.json, more)));
                response
                    .headers_mut()
                    .insert(TRAILER, HeaderValue::from_static("memory-warning"));
                response
            }
        };
        for warning in self.warnings {
            add_warning(response.headers_mut(), &warning);
        }
        response
    }
}

/// Adds a `Memory-Warning` header, which explains why a result is incomplete.
pub(super) fn add_warning(headers: &mut HeaderMap, warning: &str) {
    // A header consists of visible ASCII characters; others are escaped as in JSON.
    let text: String = warning.chars().map(escape_non_ascii).collect();
    if let Ok(value) = text.parse() {
        headers.append(WARNING, value);
    }
}

fn escape_non_ascii(letter: char) -> String {
    match letter {
        ' '..='~' => letter.to_string(),
        other => other.escape_unicode().to_string(),
    }
}

/// Marks a response of the upstream server, to which the rest of the request body is still being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UpstreamStream;

/// Returns a response with a JSON value.
pub(super) fn value(value: &Value) -> Response {
    json_text(exact_json::to_text(value))
}

fn json_text(text: String) -> Response {
    json_body(Body::from(text))
}

fn json_body(body: Body) -> Response {
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Maximum number of warnings in the trailers; clients limit the size of trailers.
const MAX_WARNINGS: usize = 20;

/// A response body of chunks, each of which is read after the previous one was sent.
///
/// So a slow client blocks no worker and fills no memory. A read error aborts the connection, since the response is
/// incomplete.
#[derive(Debug)]
struct StreamingBody {
    next: BodyState,
    warnings: Vec<String>,
}

#[derive(Debug)]
enum BodyState {
    /// The next chunk, and the chunks after it.
    Ready(String, ResultChunks),
    /// The next chunk is being read.
    Reading(JoinHandle<(Option<Result<ResultChunk, ToolError>>, ResultChunks)>),
    /// There are no more chunks.
    Over,
}

impl StreamingBody {
    /// Creates a body that starts with `first`.
    fn new(first: String, more: ResultChunks) -> Self {
        Self {
            next: BodyState::Ready(first, more),
            warnings: Vec::new(),
        }
    }

    fn read_next(mut pieces: ResultChunks) -> BodyState {
        BodyState::Reading(spawn_blocking(move || (pieces.next(), pieces)))
    }
}

impl HttpBody for StreamingBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            let read = match &mut self.next {
                BodyState::Over => return Poll::Ready(None),
                BodyState::Reading(reading) => ready!(Pin::new(reading).poll(context)),
                BodyState::Ready(..) => {
                    let BodyState::Ready(json, pieces) =
                        std::mem::replace(&mut self.next, BodyState::Over)
                    else {
                        continue;
                    };
                    self.next = Self::read_next(pieces);
                    return Poll::Ready(Some(Ok(Frame::data(Bytes::from(json)))));
                }
            };
            self.next = BodyState::Over;
            let (piece, pieces) = read.map_err(io::Error::other)?;
            match piece {
                Some(Ok(ResultChunk::Json(json))) => self.next = BodyState::Ready(json, pieces),
                Some(Ok(ResultChunk::Warning(warning))) => {
                    if self.warnings.len() < MAX_WARNINGS {
                        self.warnings.push(warning);
                    }
                    self.next = Self::read_next(pieces);
                }
                Some(Err(error)) => {
                    return Poll::Ready(Some(Err(io::Error::other(format_error_chain(&error)))));
                }
                None if self.warnings.is_empty() => {}
                None => {
                    let mut trailers = HeaderMap::new();
                    self.warnings
                        .iter()
                        .for_each(|warning| add_warning(&mut trailers, warning));
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
            }
        }
    }
}

/// Command prefixes with their routes. The next word is the instance type, if the route takes one.
const ROUTES: [(&str, &str); 5] = [
    ("memory instance backends", "GET /v1/backends"),
    ("memory instance instances", "GET /v1/instances"),
    ("memory instance actions", "GET /v1/backends"),
    ("memory instance run", "GET /v1/backends"),
    ("memory agent --list-tools", "GET /v1/tools"),
];

/// Returns a hint with commands replaced by routes; clauses with other commands are left out.
fn with_routes(hint: &str) -> Option<String> {
    let mut text = String::new();
    for (at, part) in hint.split('`').enumerate() {
        // Every second part is a code span.
        match (at % 2 == 1, find_route(part)) {
            (false, _) => text.push_str(part),
            (true, Some(route)) => text.push_str(&route),
            (true, None) => text.extend(["`", part, "`"]),
        }
    }
    without_commands(&text)
}

fn find_route(command: &str) -> Option<String> {
    let (rest, route) = ROUTES
        .iter()
        .find_map(|(own, route)| Some((command.strip_prefix(own)?, *route)))?;
    let kind = rest
        .split_whitespace()
        .next()
        .and_then(|word| word.split('/').next());
    let takes_kind = route == "GET /v1/backends";
    match kind {
        Some(kind) if takes_kind && !kind.starts_with('-') => Some(format!("{route}/{kind}")),
        _ => Some(route.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Collected};
    use memory_core::instance::InstanceError;
    use memory_core::instance::history::SessionRecord;

    use super::*;

    fn collect_body(
        records: Vec<Result<SessionRecord, InstanceError>>,
    ) -> Result<Collected<Bytes>, io::Error> {
        let answer = ActionResult::from_records(Box::new(records.into_iter())).expect("it begins");
        let body = StreamingBody::new(answer.json, answer.more.expect("it is long"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(body.collect())
    }

    fn record(number: usize) -> SessionRecord {
        SessionRecord::parse(&format!(
            r#"{{"role":"user","content":"{number} {}"}}"#,
            "x".repeat(1000)
        ))
        .expect("a record")
    }

    #[test]
    fn a_long_answer_comes_whole_with_its_warnings_behind_it() {
        let mut records: Vec<_> = (0..300).map(|number| Ok(record(number))).collect();
        records[200] = Err(InstanceError::Damaged {
            place: "s.jsonl".into(),
            what: "half a line".into(),
        });
        let sent = collect_body(records).expect("it is whole");
        let warnings: Vec<_> = sent
            .trailers()
            .expect("warnings")
            .get_all("memory-warning")
            .iter()
            .collect();
        assert_eq!(warnings, ["s.jsonl is damaged: half a line"]);
        let records: Vec<serde_json::Value> =
            serde_json::from_slice(&sent.to_bytes()).expect("JSON");
        assert_eq!(records.len(), 299);
    }

    #[test]
    fn an_answer_that_breaks_off_is_an_error_of_the_connection() {
        let broken = Err(InstanceError::TooLarge {
            what: "the disk is gone".into(),
        });
        let mut records: Vec<_> = (0..300).map(|number| Ok(record(number))).collect();
        records[200] = broken;
        assert!(
            collect_body(records)
                .expect_err("it breaks off")
                .to_string()
                .contains("the disk is gone")
        );
    }

    #[test]
    fn a_hint_names_routes_and_no_commands() {
        for (hint, client) in [
            (
                "`memory instance run history/NAME append --help` shows the fields",
                Some("GET /v1/backends/history shows the fields"),
            ),
            (
                "`memory instance backends` lists the backends",
                Some("GET /v1/backends lists the backends"),
            ),
            (
                "`memory instance actions kv` lists the actions",
                Some("GET /v1/backends/kv lists the actions"),
            ),
            (
                "`memory instance instances` lists the instances; `memory instance connect` creates one",
                Some("GET /v1/instances lists the instances"),
            ),
            (
                "`memory agent --list-tools --tools all` lists them",
                Some("GET /v1/tools lists them"),
            ),
            (
                "`memory instance connect` sets another user and password",
                None,
            ),
            ("try again in a moment", Some("try again in a moment")),
            ("a `literal` stays", Some("a `literal` stays")),
        ] {
            assert_eq!(with_routes(hint).as_deref(), client, "{hint}");
        }
    }
}
