//! Serves the Model Context Protocol over HTTP.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::refusal::refusal;
use super::server::{Server, Speaker};
use crate::agent::Agent;
use crate::exact;
use crate::socket::LONGEST_LINE;

/// Maximum size of a request, in bytes; the same as on the socket.
const LARGEST: usize = LONGEST_LINE;

/// Maximum time to receive a request.
const SENDING: Duration = Duration::from_secs(10);

/// Maximum number of requests that are read at the same time; others wait.
const READING: usize = 16;

/// Maximum number of sessions; further clients are rejected.
const SESSIONS: usize = 128;

/// Returns the router that serves `/mcp` until `end` is cancelled. Access control happens before it.
pub(crate) fn over_http(agent: &Arc<Agent>, speaker: &Speaker, end: &CancellationToken) -> Router {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        // The size of each request is checked before.
        .with_max_request_body_bytes(usize::MAX)
        .with_cancellation_token(end.clone());
    let room = Room { reading: Arc::new(Semaphore::new(READING)), sessions: Arc::new(LocalSessionManager::default()) };
    let sessions = Arc::clone(&room.sessions);
    let (agent, speaker) = (Arc::clone(agent), speaker.clone());
    let service = StreamableHttpService::new(move || Ok(Server::new(&agent, &speaker)), sessions, config);
    Router::new().route_service("/mcp", service).layer(from_fn_with_state(room, enter))
}

/// Shared limits of all clients.
#[derive(Debug, Clone)]
struct Room {
    reading: Arc<Semaphore>,
    sessions: Arc<LocalSessionManager>,
}

/// Rejects requests that exceed a limit.
async fn enter(State(room): State<Room>, request: Request, next: Next) -> Response {
    let is_new = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if is_new && SESSIONS <= room.sessions.sessions.read().await.len() {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many MCP sessions are open\n").into_response();
    }
    let (parts, body) = request.into_parts();
    let whole = async {
        let _place = room.reading.acquire().await;
        to_bytes(body, LARGEST).await
    };
    match timeout(SENDING, whole).await {
        Ok(Ok(body)) => match exact::from_slice(&body).ok().as_ref().and_then(Value::as_object).and_then(refusal) {
            Some(answer) => {
                (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], exact::to_text(&answer)).into_response()
            }
            None => exact_answer(next.run(with_exact_numbers(parts, body)).await),
        },
        Ok(Err(_)) => (StatusCode::PAYLOAD_TOO_LARGE, format!("the request is longer than {LARGEST} bytes\n")).into_response(),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the request was not received in time\n").into_response(),
    }
}

/// Marks long numbers in a request, so that they keep every digit on their way through the SDK.
fn with_exact_numbers(mut parts: Parts, body: Bytes) -> Request {
    let marked = std::str::from_utf8(&body).map_or(Cow::Borrowed(""), exact::mark);
    let Cow::Owned(marked) = marked else { return Request::from_parts(parts, body.into()) };
    parts.headers.insert(CONTENT_LENGTH, marked.len().into());
    Request::from_parts(parts, marked.into())
}

/// Turns marked numbers of a response back into numbers. The SDK sends each message as a single frame.
fn exact_answer(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    let plain = |piece: Bytes| match std::str::from_utf8(&piece).map_or(Cow::Borrowed(""), exact::unmark) {
        Cow::Owned(plain) => Bytes::from(plain),
        Cow::Borrowed(_) => piece,
    };
    Response::from_parts(parts, Body::new(body.map_frame(move |frame| frame.map_data(plain))))
}
