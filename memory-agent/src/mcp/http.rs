//! The protocol over HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::server::{Server, Speaker};
use crate::agent::Agent;

/// A longer request is refused, as on the socket.
const LARGEST: usize = 1 << 20;

/// How long a client may take to send one.
const SENDING: Duration = Duration::from_secs(10);

/// So many requests are read at once; others wait.
const READING: usize = 32;

/// So many clients are served at once; a new one is turned away.
const SESSIONS: usize = 128;

/// Returns what answers clients at `/mcp` until `end`. Who may ask is seen to before.
pub(crate) fn over_http(agent: &Arc<Agent>, speaker: &Speaker, end: &CancellationToken) -> Router {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(LARGEST)
        .with_cancellation_token(end.clone());
    let room = Room { reading: Arc::new(Semaphore::new(READING)), sessions: Arc::new(LocalSessionManager::default()) };
    let sessions = Arc::clone(&room.sessions);
    let (agent, speaker) = (Arc::clone(agent), speaker.clone());
    let service = StreamableHttpService::new(move || Ok(Server::new(&agent, &speaker)), sessions, config);
    Router::new().route_service("/mcp", service).layer(from_fn_with_state(room, enter))
}

/// How much room clients take.
#[derive(Debug, Clone)]
struct Room {
    reading: Arc<Semaphore>,
    sessions: Arc<LocalSessionManager>,
}

/// Refuses what would take too much room or time.
async fn enter(State(room): State<Room>, request: Request, next: Next) -> Response {
    let is_new = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if is_new && SESSIONS <= room.sessions.sessions.read().await.len() {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many clients are served already\n").into_response();
    }
    let (parts, body) = request.into_parts();
    let whole = async {
        let _place = room.reading.acquire().await;
        to_bytes(body, LARGEST).await
    };
    match timeout(SENDING, whole).await {
        Ok(Ok(body)) => next.run(Request::from_parts(parts, body.into())).await,
        Ok(Err(_)) => (StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 1 MiB\n").into_response(),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the request did not come to its end\n").into_response(),
    }
}
