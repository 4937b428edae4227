//! Models on remote servers with an `OpenAI`-compatible API.
//!
//! | file | contents |
//! |---|---|
//! | `embedder` | the client for embeddings, its settings and its JSON |
//! | `chat` | the client for chat completions, and its settings |
//! | `chat_wire` | the JSON of the chat completions API |
//! | `api_key` | an API key that is redacted in all output |
//! | `endpoint` | validated addresses |
//! | `server_address` | an address that is redacted in all output if it may contain a secret |
//! | `request` | HTTP requests, their retries and their errors |

mod api_key;
mod chat;
mod chat_wire;
mod embedder;
mod endpoint;
mod request;
mod server_address;

pub use api_key::{ApiKey, ApiKeyError};
pub use chat::{ChatSettings, RemoteChat};
pub use embedder::{RemoteEmbedder, RemoteSettings};
pub use server_address::{ServerAddress, is_host};
