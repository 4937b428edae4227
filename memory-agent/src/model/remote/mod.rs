//! Models behind an address.
//!
//! | file | what is decided there |
//! |---|---|
//! | `embedder` | how texts become vectors |
//! | `settings` | what a person may set about an embedding model |
//! | `embeddings_wire` | how embeddings go over the wire |
//! | `chat` | how questions become answers |
//! | `chat_settings` | what a person may set about a language model |
//! | `chat_wire` | how questions and answers go over the wire |
//! | `api_key` | a key, which is never shown |
//! | `endpoint` | which addresses are accepted |
//! | `request` | how one request is made, and what every kind of failure means |
//! | `complaint` | what servers say when they refuse |
//! | `retry` | when to try again |
//! | `retry_after` | when a server wants to be asked again |

mod api_key;
mod chat;
mod chat_settings;
mod chat_wire;
mod complaint;
mod embedder;
mod embeddings_wire;
mod endpoint;
mod request;
mod retry;
mod retry_after;
mod settings;

pub use api_key::{ApiKey, ApiKeyError};
pub use chat::RemoteChat;
pub use chat_settings::ChatSettings;
pub use embedder::RemoteEmbedder;
pub use settings::RemoteSettings;
