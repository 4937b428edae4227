//! The rim: tools and the fronts that offer them.
//!
//! | room | what lives there |
//! |---|---|
//! | [`tools`] | the verbs that agents may use, each with the schema of its parameters |
//! | [`Agent`], [`Session`] | the registry of tools, and somebody who calls them |
//! | [`batch`] | calls as JSON on the standard input |
//! | [`hook`], [`event`] | who is asked before and after a call, and what is told of it |
//! | [`instance`] | types of instances, their fields and their actions, each with the schema of its parameters |
//! | [`rpc`] | the tools as JSON-RPC, as data |
//! | `socket` | the tools over a Unix socket |
//! | `http` | tools and instances over HTTP, and the Model Context Protocol beside them |
//! | `mcp` | the tools for clients of the Model Context Protocol |
//! | [`json`] | how everything that the memories answer is written as JSON, the same for every front |
//! | [`model`] | the models that make memories better: in a folder on this machine, or behind an address |

mod agent;
pub mod batch;
pub mod event;
pub mod exact;
pub mod hook;
#[cfg(feature = "server")]
pub mod http;
mod input;
pub mod instance;
pub mod json;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(any(feature = "local-model", feature = "remote-model"))]
pub mod model;
pub mod rpc;
mod session;
#[cfg(feature = "server")]
pub mod socket;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
pub mod tools;
mod validation;

pub use agent::{AfterChanges, Agent, Hooks};
pub use input::{InputError, InputValues};
pub use memory_core::LocalTime;
pub use session::{CONTEXT_BUDGET, Session};
pub use tools::Offer;
