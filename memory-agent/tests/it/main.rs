//! Integration tests of the frontends, their JSON, and the models.

mod agents;
mod custom_tools;
mod http;
mod json;
#[cfg(all(feature = "portable-system", feature = "server"))]
mod loopback_socket;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(all(feature = "local-model", feature = "remote-model"))]
mod model;
mod proxy;
mod recalls;
mod rpc;
#[cfg(feature = "server")]
mod socket;
mod tools;
mod topics;
#[cfg(feature = "web")]
mod web;
