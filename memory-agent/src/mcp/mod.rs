//! Serves the tools to clients of the Model Context Protocol, using the official SDK.
//!
//! Tools have annotations and brief results, see [`memory_core::AnswerDetail::Brief`]: structured with an output schema, and as
//! compact text. A failed call is a result with `isError`, so that the model reads it;
//! only a request that cannot be routed is a protocol error. Resources are `memory://index` and `memory://note/<id>`;
//! prompts are `recall`, `remember` and `review`.
//!
//! All revisions of the protocol up to 2026-07-28 are served. The SDK implements the differences in messages and headers;
//! this module identifies the caller, serves subscriptions, and limits the sizes of messages.

mod answer;
mod batches;
mod caller;
mod http;
mod instructions;
mod invalid_message;
mod prompts;
mod resources;
mod server;
mod stdio;
mod subscriptions;

pub use caller::{ClientIdentity, FoundProject, ProjectDiscovery, ProjectFinder};
pub(crate) use http::mcp_router;
pub use stdio::{serve, serve_stdio};
