//! Serves tools and instances over HTTP, with the parameters and results of the command line.
//!
//! | request | response |
//! |---|---|
//! | `GET /v1/health` | `{status, backends}`, without authorization |
//! | `GET /healthz` | `{status}`: the process works; without authorization |
//! | `GET /readyz` | `{status}`: the memories can be read and written; otherwise 503 `{status, code}`; without authorization |
//! | `GET /v1/backends` | the types of instances |
//! | `GET /v1/backends/TYPE` | one type, its fields and actions with their schemas |
//! | `GET /v1/instances` | the instances |
//! | `POST /v1/run/TYPE/NAME/ACTION` | the result of the action; the body is the object of its parameters |
//! | `GET /v1/tools` | the tools with their schemas |
//! | `GET /v1/tools/NAME` | one tool |
//! | `POST /v1/tools/NAME` | the result of the tool; the body is the object of its parameters |
//! | `/mcp` | the Model Context Protocol |
//! | `POST /v1/chat/completions` and all other paths below `/v1` | the chat proxy, if there is a [`ChatProxy`] |
//! | `GET /openapi.json` | the description of all routes, as OpenAPI 3.1 |
//! | `GET /metrics` | metrics for Prometheus |
//!
//! An error has the shape of [`crate::json::error`], with the status for its code. If a result is incomplete, the
//! header `Memory-Warning` gives the reason. The headers `Memory-Agent` and `Memory-Project` set the view of a request;
//! without them it sees only global memories.
//!
//! With a token, every route except the health routes requires `Authorization: Bearer TOKEN`. Without one, only programs of the
//! same user on this machine are served: the listener must be bound to a loopback address, connections of other users
//! are rejected where the system reports the owner (Linux), and so are requests with a foreign `Host` or `WebOrigin`.
//! Therefore no web page can call the server, except those of the [`AllowedOrigins`].
//!
//! With [`PrincipalRules`], the token may also be that of a principal of the shared database. Then the view of the request is that of
//! the principal, with conversations of its own in the chat proxy, and instances and metrics are not available, because they are not
//! separate for each principal.
//!
//! One middleware handles every request: authorization, origins of web pages, and metrics. Routes are thin: a
//! request becomes an action of an instance or a call of a tool, on a thread that may block. Bodies share a
//! memory budget. The OpenAPI document is made from the schemas that validate parameters.

mod auth;
mod body_reader;
mod client_body;
mod cors;
mod metrics;
mod openapi;
mod peer_owner;
mod proxy;
mod quick_ack;
mod request_log;
mod response;
mod routes;
mod serve;
#[cfg(target_os = "linux")]
mod socket_diag;
mod status;

pub(crate) use auth::RequestCaller;
pub use auth::{AccessRules, AccessToken, PrincipalRules, SecureSite};
pub(crate) use auth::{AuthState, ClientConnection, check_access, principal_token};
pub(crate) use body_reader::BodyBudget;
pub use body_reader::HttpLimits;
pub(crate) use client_body::allow_upload;
pub use cors::{AllowedOrigins, WebOrigin, WebOriginError};
pub use openapi::openapi;
#[cfg(feature = "testing")]
pub use proxy::streamed_outcome;
pub use proxy::{
    ChatProxy, ClientEmbedder, ClientModel, LastModel, OpenHome, OpenPrincipalChats,
    PrincipalChats, ProxyObserver, ProxyRules, Upstream, UpstreamError,
};
pub use request_log::{ChatRecord, RequestLog, RequestRecord, StoredTurns};
pub(crate) use serve::serve_routes;
pub use serve::{HttpServerConfig, ProxyServerConfig, serve_http, serve_proxy};
pub(crate) use status::status;
