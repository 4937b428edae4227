//! Serves the tools to clients of the Model Context Protocol, using the official SDK.
//!
//! Tools have annotations and structured results. A failed call is a result with `isError`, so that the model reads it;
//! only a request that cannot be routed is a protocol error. Resources are `memory://index` and `memory://note/<id>`;
//! prompts are `recall`, `remember` and `review`.

#[cfg(feature = "server")]
mod http;
mod invalid_message;
mod prompts;
mod resources;
mod server;
mod stdio;
mod subscriptions;

#[cfg(feature = "server")]
pub(crate) use http::mcp_router;
pub use server::ClientIdentity;
#[cfg(feature = "testing")]
pub(crate) use stdio::serve;
pub use stdio::serve_stdio;
