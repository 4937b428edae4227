//! The program `memory` as a library: a home with its settings, and all that serves it.
//!
//! | type or module | content |
//! |---|---|
//! | [`Home`] | an opened home with its settings: its memories, its agent, its project |
//! | [`Environment`] | the variables and folders of a process; only [`Environment::from_process`] reads them |
//! | [`DaemonBuilder`], [`Daemon`] | the maintenance of a home, and the servers for agents: Unix socket, HTTP and MCP |
//! | [`ProxyBuilder`], [`Proxy`] | the chat proxy, which adds memories to chats |
//! | [`install`] | the setup of clients |
//! | [`ProgramError`] | an error, with its permanent code and a hint |
//! | [`run`] | the command line |
//!
//! A program that serves its own tool to agents:
//!
//! ```
//! use std::sync::Arc;
//!
//! use memory_cli::Home;
//! use memory_core::{Effect, Tool, ToolContext, ToolError};
//! use serde_json::{Value, json};
//!
//! #[derive(Debug)]
//! struct Greet;
//!
//! impl Tool for Greet {
//!     fn name(&self) -> &str {
//!         "greet"
//!     }
//!     fn description(&self) -> &str {
//!         "Return a greeting."
//!     }
//!     fn parameters(&self) -> Value {
//!         json!({ "type": "object", "properties": {}, "additionalProperties": false })
//!     }
//!     fn effect(&self) -> Effect {
//!         Effect::Reads
//!     }
//!     fn execute(&self, _: &ToolContext, _: &Value) -> Result<Value, ToolError> {
//!         Ok(json!({ "greeting": "hello" }))
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().join("home");
//! let home = Home::open(&root)?;
//! home.memories().write("The user prefers dark mode")?;
//! let daemon = home.daemon().tool(Arc::new(Greet)).http(([127, 0, 0, 1], 0).into()).start()?;
//! println!("agents connect to {:?} or {:?}", daemon.socket(), daemon.http_address());
//! daemon.stop()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing but [`run`] prints or ends the process. The other modules are private: the arguments and commands (`args`,
//! `commands` and `cli`), and the output (`print`, `report`), are above the modules that construct the services.

#![expect(
    clippy::doc_markdown,
    reason = "the docs of commands are their help, where backticks would be shown"
)]

mod agent;
mod allocator;
mod api;
mod app;
mod args;
mod banks;
mod chat_proxy;
mod cli;
mod commands;
mod config;
mod conversations;
mod daemon;
mod datetime;
mod definitions;
mod doctor;
mod embedding;
mod failure;
mod home;
mod http;
mod ingestion;
pub mod install;
mod instances;
mod jq_process;
mod language_model;
mod notification;
mod page_export;
mod page_import;
mod page_settings;
mod print;
mod project;
mod report;
mod reranking;
mod service;
mod shared_store;
mod signals;
mod status;
mod system_check;
mod topics;
mod versions;
mod wake_signal;
mod web_assistants;
mod web_page;
mod zone;

pub use api::Project;
pub use chat_proxy::{Proxy, ProxyBuilder};
pub use cli::{run, run_silently};
pub use config::Environment;
pub use daemon::{Daemon, DaemonBuilder};
pub use failure::ProgramError;
pub use home::Home;

/// Compiles the examples of the page on embedding.
#[cfg(doctest)]
#[doc = include_str!("../../docs/src/embedding.md")]
struct EmbeddingPage;
