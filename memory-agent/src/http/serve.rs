//! Accepts HTTP connections and shuts down gracefully.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use axum::Router;
use axum::http::Request;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::GracefulShutdown;
use memory_core::StoreHealth;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::auth::{self, AccessRules, AuthState, ClientConnection};
use super::body_drain::BodyDrain;
use super::limits::HttpLimits;
use super::peer_owner::PeerOwners;
use super::proxy::{self, ChatProxy};
use super::quick_ack::QuickAck;
use super::request_log::{self, RequestLog};
use super::response::{AbortConnection, UpstreamStream};
use super::routes::{AppState, routes};
use crate::agent::Agent;
use crate::instance::OpenInstances;
use crate::mcp::{self, ClientIdentity};

/// The configuration of the HTTP server.
#[derive(Debug)]
pub struct HttpServerConfig {
    /// The tools.
    pub agent: Arc<Agent>,
    /// The instances.
    pub instances: Arc<OpenInstances>,
    /// The access rules.
    pub access: AccessRules,
    /// The resource limits.
    pub limits: HttpLimits,
    /// The chat proxy on the same port, if any.
    pub chat: Option<Arc<ChatProxy>>,
    /// The health of the store of memories, for `/readyz` and `/metrics`.
    pub health: Option<Arc<dyn StoreHealth>>,
}

/// The configuration of a standalone chat proxy.
pub struct ProxyServerConfig {
    /// The chat proxy.
    pub chat: Arc<ChatProxy>,
    /// The access rules.
    pub access: AccessRules,
    /// The resource limits.
    pub limits: HttpLimits,
    /// Receives a record of each request, if set.
    pub log: Option<Arc<dyn RequestLog>>,
}

impl fmt::Debug for ProxyServerConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            chat,
            access,
            limits,
            log: _,
        } = self;
        let mut shown = formatter.debug_struct("ProxyFront");
        shown
            .field("chat", chat)
            .field("access", access)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

/// Pause after the system failed to accept a connection, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Maximum size of the request headers, and of the read and write buffers of a connection, in bytes.
const MAX_BUFFER: usize = 64 * 1024;

/// Serves `front` until `shutdown` completes, then finishes running requests and closes all instances.
///
/// Requests that take longer than the limits allow are aborted.
///
/// # Errors
/// If the listener fails; if it is not bound to a loopback address although there is no token; or if turns of a chat
/// could not be stored before the end.
pub async fn serve_http(
    listener: TcpListener,
    front: HttpServerConfig,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let HttpServerConfig {
        agent,
        instances,
        access,
        limits,
        chat,
        health,
    } = front;
    let end = CancellationToken::new();
    let gate = Arc::new(AuthState::new(access));
    let desk = Arc::new(AppState::new(
        Arc::clone(&agent),
        Arc::clone(&instances),
        Arc::clone(&gate),
        health,
        limits,
    ));
    let protocol = mcp::mcp_router(&agent, &ClientIdentity::default(), &end);
    let router = routes(
        &desk,
        protocol.merge(chat.as_ref().map(proxy::shared_routes).unwrap_or_default()),
    );
    let served = serve_routes(listener, router, &gate, limits, &end, shutdown).await;
    let kept = match chat {
        Some(chat) => finish_turns(chat).await,
        None => Ok(()),
    };
    instances.close();
    served.and(kept)
}

/// Serves a chat proxy until `shutdown` completes and all turns are stored, like [`serve_http`].
///
/// # Errors
/// Those of [`serve_http`].
pub async fn serve_proxy(
    listener: TcpListener,
    front: ProxyServerConfig,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let ProxyServerConfig {
        chat,
        access,
        limits,
        log,
    } = front;
    let gate = Arc::new(AuthState::new(access));
    let mut router = proxy::standalone_routes(&chat)
        .layer(from_fn_with_state(Arc::clone(&gate), auth::authorize));
    if let Some(log) = log {
        router = router.layer(from_fn_with_state(log, request_log::trace));
    }
    let served = serve_routes(
        listener,
        router,
        &gate,
        limits,
        &CancellationToken::new(),
        shutdown,
    )
    .await;
    let kept = finish_turns(chat).await;
    served.and(kept)
}

/// Waits until all turns are stored.
async fn finish_turns(chat: Arc<ChatProxy>) -> io::Result<()> {
    // A panic of the thread was already reported by the panic hook.
    match tokio::task::spawn_blocking(move || chat.stop())
        .await
        .unwrap_or_default()
    {
        0 => Ok(()),
        lost => Err(io::Error::other(format!(
            "{lost} turns of conversations were lost because they could not be stored"
        ))),
    }
}

/// Serves `router` until `shutdown` completes; then cancels `end` and waits for running requests.
pub(crate) async fn serve_routes(
    listener: TcpListener,
    router: Router,
    gate: &AuthState,
    limits: HttpLimits,
    end: &CancellationToken,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let here = listener.local_addr()?;
    if gate.rules.token.is_none() && !here.ip().is_loopback() {
        let why = format!("cannot serve {here} without a token: it is not a loopback address");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(MAX_BUFFER);
    let (places, open) = (
        Arc::new(Semaphore::new(limits.connections)),
        GracefulShutdown::new(),
    );
    let neighbours = Arc::new(PeerOwners::new(here));
    tokio::pin!(shutdown);
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            next = next => next,
            () = &mut shutdown => break,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        set_socket_options(&stream, limits.read_time);
        let connection = ClientConnection::new(peer, &neighbours);
        let router = router.clone();
        let service = service_fn(move |request| {
            serve_request(
                router.clone(),
                request,
                connection.clone(),
                limits.body_time,
            )
        });
        let served = open.watch(http.serve_connection(QuickAck::new(stream), service));
        let counted = gate.metrics.start_connection();
        tokio::spawn(async move {
            // A client that disconnects needs no response.
            let _ = served.await;
            drop((place, counted));
        });
    }
    drop(listener);
    // MCP streams do not end by themselves.
    end.cancel();
    let _ = timeout(limits.drain, open.shutdown()).await;
    Ok(())
}

async fn serve_request(
    mut router: Router,
    request: Request<Incoming>,
    connection: ClientConnection,
    body_time: Duration,
) -> Result<Response, AbortConnection> {
    let (rest, mut request) = BodyDrain::of(request);
    request.extensions_mut().insert(connection);
    let Ok(response) = router.call(request).await;
    if response.extensions().get::<AbortConnection>().is_some() {
        return Err(AbortConnection);
    }
    if response.extensions().get::<UpstreamStream>().is_none() {
        rest.drain(body_time).await;
    }
    Ok(response)
}

/// Disables Nagle's algorithm and sets the time after which an unresponsive client is dropped.
fn set_socket_options(stream: &TcpStream, read_time: Duration) {
    // Systems without these options use their defaults.
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    {
        let milliseconds = u32::try_from(read_time.as_millis()).unwrap_or(u32::MAX);
        let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = read_time;
}
