//! The tools that agents call, and the frontends that serve them.
//!
//! | module or type | contents |
//! |---|---|
//! | [`tools`] | the tools that agents may call, each with the schema of its parameters |
//! | [`Agent`], [`Session`] | the registry of tools, and a client session that calls them; [`Agent::builder`] adds custom tools |
//! | [`batch`] | calls as JSON on standard input |
//! | [`hook`], [`event`] | hooks that run before and after a call, and the events of calls |
//! | [`instance`] | types of instances, their fields and actions, each with the schema of its parameters |
//! | [`rpc`] | the tools as JSON-RPC, without I/O |
//! | `socket` | the tools over a Unix socket, or on other systems over TCP on 127.0.0.1; feature `server` |
//! | [`system`] | calls for processes and local sockets that differ between operating systems |
//! | `http` | tools and instances over HTTP, including the Model Context Protocol; feature `server` |
//! | `mcp` | the tools for clients of the Model Context Protocol; feature `server` |
//! | `web` | the page for the browser; feature `server` |
//! | [`json`] | the JSON shapes of all results, the same for every frontend |
//! | [`answer_text()`] | results as compact text |
//! | `model` | embedding, reranking and chat models: from a local folder, or over HTTP; feature `models` |
//!
//! These features are on by default. Without them, the crate has the tools, hooks, events and JSON-RPC, and no async code.

mod agent;
mod answer_text;
pub mod batch;
pub mod event;
pub mod exact_json;
pub mod hook;
#[cfg(feature = "server")]
pub mod http;
mod input;
pub mod instance;
pub mod json;
#[cfg(feature = "server")]
pub mod mcp;
#[cfg(feature = "models")]
pub mod model;
mod parameters;
#[cfg(feature = "server")]
mod places;
pub mod rpc;
#[cfg(feature = "server")]
pub mod socket;
pub mod system;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
pub mod tools;
mod validation;
#[cfg(feature = "server")]
pub mod web;

pub use agent::{
    Agent, AgentBuilder, CONTEXT_BUDGET, HookList, OpenedPage, PageOpener, ProjectWrites, Session,
    SessionOrigin,
};
pub use answer_text::answer_text;
pub use input::{InputError, InputValues};
pub use memory_core::LocalTime;
pub use tools::ToolSelection;
