//! The protocol over HTTP, for clients on this machine.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::neighbour;
use super::server::{Server, Speaker};
use crate::agent::Agent;

/// Why the protocol could not be served.
pub type HttpError = io::Error;

/// A longer request is refused, as on the socket.
const LARGEST: usize = 1 << 20;

/// How long a client may take to send one.
const SENDING: Duration = Duration::from_secs(10);

/// So many requests are read at once; others wait.
const READING: usize = 32;

/// So many clients are served at once; a new one is turned away.
const SESSIONS: usize = 128;

/// How long connections may go on after the end was asked for.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves clients at `/mcp` until `shutdown` is done. Only programs of the same person on this machine are served: the listener
/// must be bound to a loopback address, connections of other people are refused where the system tells whose they are (Linux),
/// and so are requests for a foreign `Host` or from a foreign `Origin`, so no web page reaches it.
///
/// # Errors
/// When the listener breaks down.
pub async fn serve_http(
    listener: TcpListener,
    agent: Arc<Agent>,
    speaker: Speaker,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), HttpError> {
    let end = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(["localhost", "127.0.0.1", "::1"])
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .with_max_request_body_bytes(LARGEST)
        .with_cancellation_token(end.clone());
    let door = Door {
        here: listener.local_addr()?,
        reading: Arc::new(Semaphore::new(READING)),
        sessions: Arc::new(LocalSessionManager::default()),
    };
    let sessions = Arc::clone(&door.sessions);
    let service = StreamableHttpService::new(move || Ok(Server::new(&agent, &speaker)), sessions, config);
    let router = Router::new().nest_service("/mcp", service).layer(from_fn_with_state(door, enter));
    let asked = end.clone();
    let stop = async move {
        shutdown.await;
        asked.cancel();
    };
    let served = axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).with_graceful_shutdown(stop);
    let late = async {
        end.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        served = served => served,
        () = late => Ok(()),
    }
}

/// What every request comes through.
#[derive(Debug, Clone)]
struct Door {
    here: SocketAddr,
    reading: Arc<Semaphore>,
    sessions: Arc<LocalSessionManager>,
}

/// Refuses whoever is somebody else, and what would take too much room or time.
async fn enter(State(door): State<Door>, ConnectInfo(peer): ConnectInfo<SocketAddr>, request: Request, next: Next) -> Response {
    if !peer.ip().to_canonical().is_loopback() || !neighbour::is_ours(peer, door.here) {
        return (StatusCode::FORBIDDEN, "these are somebody else's memories\n").into_response();
    }
    let is_new = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if is_new && SESSIONS <= door.sessions.sessions.read().await.len() {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many clients are served already\n").into_response();
    }
    let (parts, body) = request.into_parts();
    let whole = async {
        let _place = door.reading.acquire().await;
        to_bytes(body, LARGEST).await
    };
    match timeout(SENDING, whole).await {
        Ok(Ok(body)) => next.run(Request::from_parts(parts, body.into())).await,
        Ok(Err(_)) => (StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 1 MiB\n").into_response(),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the request did not come to its end\n").into_response(),
    }
}
