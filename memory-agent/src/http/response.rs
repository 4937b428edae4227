//! Builds HTTP responses from results and errors.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, TRAILER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use memory_core::{Code, ToolError};
use serde_json::Value;

use super::hints;
use super::status::status;
use super::streaming_body::StreamingBody;
use crate::instance::ActionResult;
use crate::{exact_json, json};

/// Response header with the reason why a result is incomplete.
const WARNING: HeaderName = HeaderName::from_static("memory-warning");

/// An error as an HTTP response.
#[derive(Debug)]
pub(super) struct ErrorResponse(pub ToolError);

impl ErrorResponse {
    /// Creates the response for an error with a hint.
    pub(super) fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self(ToolError::new(code, message, Some(hint.into())))
    }
}

impl<E: Into<ToolError>> From<E> for ErrorResponse {
    fn from(error: E) -> Self {
        let mut error = error.into();
        error.hint = error.hint.and_then(|hint| hints::with_routes(&hint));
        Self(error)
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let status = status(self.0.code);
        let mut response = json_text(exact_json::to_text(&json::tool_error(&self.0)));
        *response.status_mut() = status;
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
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
                response.headers_mut().insert(TRAILER, HeaderValue::from_static("memory-warning"));
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

/// Returns a response with a JSON value.
pub(super) fn value(value: &Value) -> Response {
    json_text(exact_json::to_text(value))
}

fn json_text(text: String) -> Response {
    json_body(Body::from(text))
}

fn json_body(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
