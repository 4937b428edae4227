//! Models behind an address.
//!
//! | file | what is decided there |
//! |---|---|
//! | `embedder` | how texts become vectors |
//! | `settings` | what a person may set |
//! | `api_key` | a key, which is never shown |
//! | `endpoint` | which addresses are accepted |
//! | `request` | how one request is made, and what every kind of failure means |
//! | `retry` | when to try again |
//! | `wire` | what goes over the wire |

mod api_key;
mod embedder;
mod endpoint;
mod request;
mod retry;
mod settings;
mod wire;

pub use api_key::{ApiKey, ApiKeyError};
pub use embedder::RemoteEmbedder;
pub use settings::RemoteSettings;
