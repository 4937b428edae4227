//! The tools for clients of the Model Context Protocol, by the protocol's own SDK.
//!
//! Tools carry annotations and answer with structured results; what a tool could not do is a result with `isError`, so that the
//! model reads it, and only what cannot be routed is an error of the protocol. Resources are `memory://index` and
//! `memory://note/<id>`; prompts are `recall`, `remember` and `review`.

#[cfg(feature = "server")]
mod http;
mod prompts;
mod refusal;
mod resources;
mod server;
mod stdio;
mod subscriptions;

#[cfg(feature = "server")]
pub(crate) use http::over_http;
pub use server::Speaker;
#[cfg(feature = "testing")]
pub(crate) use stdio::serve;
pub use stdio::serve_stdio;
