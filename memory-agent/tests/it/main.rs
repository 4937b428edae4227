//! The JSON that every front speaks, and that programs rely on; and the models that make search better.

mod agents;
mod http;
mod json;
#[cfg(all(feature = "local-model", feature = "remote-model"))]
mod model;
mod proxy;
mod rpc;
#[cfg(feature = "server")]
mod socket;
mod tools;
mod topics;
