//! Accepts HTTP connections within their limits, and shuts down gracefully.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{fmt, io};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::Request;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use memory_core::{StoreHealth, SystemClock};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::auth::{self, AccessRules, AuthState, ClientConnection};
use super::body_reader::HttpLimits;
use super::client_body::ClientBody;
use super::peer_owner::{PeerOwner, PeerOwners};
use super::proxy::{self, ChatProxy};
use super::quick_ack::QuickAck;
use super::request_log::{self, RequestLog};
use super::response::UpstreamStream;
use super::routes::{AppState, routes};
use crate::agent::Agent;
use crate::instance::OpenInstances;
use crate::mcp::{self, ClientIdentity};
use crate::places::{Place, Places};

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

/// Maximum number of owners of accepted connections that are looked up at the same time; others wait in the backlog of the system.
///
/// No lookup waits for a client.
const MAX_LOOKUPS: usize = 64;

/// Maximum time that a connection waits for a place.
const PLACE_PATIENCE: Duration = Duration::from_secs(1);

/// Maximum number of connections without a place that receive the reason; others are closed at once.
const MAX_REFUSALS: usize = 32;

/// Maximum time to tell a client without a place why.
const REFUSAL_TIME: Duration = Duration::from_secs(5);

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
    let protocol = mcp::mcp_router(&agent, &ClientIdentity::default(), limits, &end);
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
    if gate.rules.token.is_none() && gate.rules.tls().is_none() && !here.ip().is_loopback() {
        let why = format!("cannot serve {here} without a token: it is not a loopback address");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if SystemClock::is_wrong() {
        return Err(io::Error::other(SystemClock::WRONG));
    }
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(MAX_BUFFER);
    let server = Arc::new(ConnectionServer {
        http,
        router,
        limits,
        tls: gate.rules.tls().cloned().map(TlsAcceptor::from),
        admits_other_users: gate.rules.admit_other_users(),
        owners: PeerOwners::new(here.port()),
        places: Places::new(limits.connections),
        refusals: Semaphore::new(MAX_REFUSALS),
    });
    let (lookups, open) = (
        Arc::new(Semaphore::new(MAX_LOOKUPS)),
        GracefulShutdown::new(),
    );
    tokio::pin!(shutdown);
    loop {
        let next = async {
            let lookup = Arc::clone(&lookups).acquire_owned().await;
            (listener.accept().await, lookup)
        };
        let (accepted, lookup) = tokio::select! {
            next = next => next,
            () = &mut shutdown => break,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (server, watcher) = (Arc::clone(&server), open.watcher());
        let counted = gate.metrics.start_connection();
        tokio::spawn(async move {
            let owner = server.find_owner(&stream, peer).await;
            drop(lookup);
            let connection = server.admit(owner, peer).await;
            server.serve(stream, connection, watcher).await;
            drop(counted);
        });
    }
    drop(listener);
    // MCP streams do not end by themselves.
    end.cancel();
    let _ = timeout(limits.drain, open.shutdown()).await;
    Ok(())
}

/// Serves the connections of a server.
struct ConnectionServer {
    http: http1::Builder,
    router: Router,
    limits: HttpLimits,
    tls: Option<TlsAcceptor>,
    admits_other_users: bool,
    owners: PeerOwners,
    places: Arc<Places>,
    refusals: Semaphore,
}

impl ConnectionServer {
    /// Returns the owner of the other end of a connection.
    async fn find_owner(&self, stream: &TcpStream, peer: SocketAddr) -> PeerOwner {
        match stream.local_addr() {
            Ok(here) => self.owners.find(peer, here, Instant::now()).await,
            // The client has disconnected.
            Err(_) => PeerOwner::Nobody,
        }
    }

    /// Returns the client of a connection, with a place if it may have one and there is one.
    async fn admit(&self, owner: PeerOwner, peer: SocketAddr) -> ClientConnection {
        let is_same_user = owner.is_trusted();
        let place = if is_same_user || self.admits_other_users {
            let holder = owner.place_holder(peer);
            self.places.acquire(holder, PLACE_PATIENCE).await
        } else {
            None
        };
        ClientConnection {
            is_same_user,
            place,
        }
    }

    /// Serves a connection until it ends, or another one takes its place. Without a place it receives the reason.
    async fn serve(&self, stream: TcpStream, connection: ClientConnection, watcher: Watcher) {
        // The HTTP library panics when it writes the header `Date` of such a time.
        if SystemClock::is_wrong() {
            return;
        }
        set_socket_options(&stream, self.limits.read_time);
        let (router, body_time) = (self.router.clone(), self.limits.body_time);
        let (place, mut http) = (connection.place.clone(), self.http.clone());
        http.keep_alive(place.is_some());
        let service = service_fn(move |request| {
            serve_request(router.clone(), request, connection.clone(), body_time)
        });
        let served = async {
            let Some(tls) = &self.tls else {
                let connection = http.serve_connection(QuickAck::new(stream), service);
                return drop(watcher.watch(connection).await);
            };
            if let Ok(Ok(stream)) = timeout(self.limits.head_time, tls.accept(stream)).await {
                let connection = http.serve_connection(TokioIo::new(stream), service);
                drop(watcher.watch(connection).await);
            }
        };
        // A client that disconnects needs no response.
        if let Some(place) = place {
            tokio::select! {
                () = served => {}
                () = place.evicted() => {}
            }
        } else if let Ok(_refusal) = self.refusals.try_acquire() {
            let _ = timeout(REFUSAL_TIME, served).await;
        }
    }
}

async fn serve_request(
    mut router: Router,
    request: Request<Incoming>,
    connection: ClientConnection,
    body_time: Duration,
) -> Result<Response, Infallible> {
    let (rest, mut request) = ClientBody::split(request, body_time);
    let place = connection.place.clone();
    request.extensions_mut().insert(connection);
    let Ok(response) = router.call(request).await;
    if response.extensions().get::<UpstreamStream>().is_none() {
        rest.drain().await;
    }
    Ok(response.map(|body| Body::new(PlacedBody { body, place })))
}

/// The body of a response, after which the connection is idle.
#[derive(Debug)]
struct PlacedBody {
    body: Body,
    place: Option<Arc<Place>>,
}

impl Drop for PlacedBody {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            place.set_idle(true);
        }
    }
}

impl HttpBody for PlacedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
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
