//! Integration tests of the frontends, their JSON, and the models.

mod agents;
mod custom_tools;
mod http;
mod json;
#[cfg(all(portable_system, feature = "server"))]
mod loopback_socket;
#[cfg(feature = "server")]
mod mcp;
#[cfg(feature = "models")]
mod model;
mod proxy;
mod recalls;
mod rpc;
#[cfg(feature = "server")]
mod socket;
mod tools;
mod topics;
#[cfg(feature = "server")]
mod web;
