//! Models on remote servers with an `OpenAI`-compatible API.
//!
//! | file | contents |
//! |---|---|
//! | `embedder` | the client for embeddings |
//! | `settings` | the settings of an embedding model |
//! | `embeddings_wire` | the JSON of the embeddings API |
//! | `chat` | the client for chat completions |
//! | `chat_settings` | the settings of a language model |
//! | `chat_wire` | the JSON of the chat completions API |
//! | `api_key` | an API key that is redacted in all output |
//! | `endpoint` | validated addresses |
//! | `request` | HTTP requests and their errors |
//! | `complaint` | error messages of servers |
//! | `retry` | the retry policy |
//! | `retry_after` | the `Retry-After` header |

mod api_key;
mod chat;
mod chat_settings;
mod chat_wire;
mod embedder;
mod embeddings_wire;
mod endpoint;
mod error_body;
mod request;
mod retry;
mod retry_after;
mod settings;

pub use api_key::{ApiKey, ApiKeyError};
pub use chat::RemoteChat;
pub use chat_settings::ChatSettings;
pub use embedder::RemoteEmbedder;
pub use settings::RemoteSettings;
