//! The protocol over HTTP, for clients on this machine.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::neighbour;
use super::server::{Server, Speaker};
use crate::agent::Agent;

/// Why the protocol could not be served.
pub type HttpError = io::Error;

/// A longer request is refused: the largest memory that may be written is far smaller.
const LARGEST: usize = 4 << 20;

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
    let service =
        StreamableHttpService::new(move || Ok(Server::new(&agent, &speaker)), Arc::new(LocalSessionManager::default()), config);
    let router = Router::new().nest_service("/mcp", service).layer(from_fn(only_ours));
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

/// Refuses whoever is somebody else.
async fn only_ours(ConnectInfo(peer): ConnectInfo<SocketAddr>, request: Request, next: Next) -> Response {
    if peer.ip().to_canonical().is_loopback() && neighbour::is_ours(peer) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "these are somebody else's memories\n").into_response()
}
