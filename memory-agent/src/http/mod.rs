//! Everything over HTTP, with the parameters and answers of the command line.
//!
//! | request | answer |
//! |---|---|
//! | `GET /v1/health` | `{status, backends}`, to anybody |
//! | `GET /v1/backends` | the types of instances |
//! | `GET /v1/backends/TYPE` | one of them, its fields and actions with their schemas |
//! | `GET /v1/instances` | the instances |
//! | `POST /v1/run/TYPE/NAME/ACTION` | what the action answers; the body is the object of its parameters |
//! | `GET /v1/tools` | the tools with their schemas |
//! | `GET /v1/tools/NAME` | one of them |
//! | `POST /v1/tools/NAME` | what the tool answers; the body is the object of its parameters |
//! | `/mcp` | the Model Context Protocol |
//! | `POST /v1/chat/completions` and all else below `/v1` | a language model that remembers, where there is a [`ChatProxy`] |
//! | `GET /openapi.json` | all of this, as OpenAPI 3.1 |
//! | `GET /metrics` | how much was asked and how long it took, for Prometheus |
//!
//! What failed is answered as [`crate::json::error`], with the status that fits its code. Where an answer is less than it should be, the
//! header `Memory-Warning` says why. The headers `Memory-Agent` and `Memory-Project` say who asks; whoever does not say sees what is
//! for everybody.
//!
//! With a token, every route but that of health asks for `Authorization: Bearer TOKEN`. Without one, only programs of the same person on
//! this machine are served: the listener must be bound to a loopback address, connections of other people are refused where the system
//! tells whose they are (Linux), and so are requests for a foreign `Host` or from a foreign `Origin`, so no web page reaches it, except those
//! of the [`AllowedOrigins`].

mod answer;
mod cors;
mod door;
mod hints;
mod limits;
mod metrics;
mod neighbour;
mod openapi;
mod pieces;
mod proxy;
mod quick_ack;
mod reading;
mod request_log;
mod rest;
mod routes;
mod serve;
#[cfg(target_os = "linux")]
mod socket_diag;
mod status;
mod token;

pub use cors::{AllowedOrigins, Origin, OriginError};
pub use door::AccessRules;
pub use limits::HttpLimits;
pub use openapi::openapi;
#[cfg(feature = "testing")]
pub use proxy::heard;
pub use proxy::{ChatProxy, ClientEmbedder, LastAsked, Model, ProxyRules, Told, Upstream, UpstreamError};
pub use request_log::{ChatRecord, RequestLog, RequestRecord, Stored};
pub use serve::{HttpFront, ProxyFront, serve_http, serve_proxy};
pub use token::Token;
