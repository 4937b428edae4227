//! An OpenAI-compatible proxy that adds memory to a language model.
//!
//! | request | handling |
//! |---|---|
//! | `POST /v1/chat/completions` | sends standing memories, and those for the last user message, along; stores both turns |
//! | `GET /health` | `{status, memory_store, openai_base_url, default_top_k}`, if no daemon routes are served |
//! | other paths below `/v1` | forwarded unchanged; with daemon routes, all paths that are not one of them |
//!
//! A chat may contain `memory_id` (the conversation), `memory_top_k`, `memory_recency_weight` and
//! `memory_score_threshold`, which are not forwarded; a response that is not a stream contains `memory_hits`.
//! Everything else passes unchanged, apart from the memories added to the request. A response that breaks off also
//! breaks off for the client, and a client that disconnects cancels the upstream request.
//!
//! The user message is handed to the writer before the model is called, whatever happens to the response. The end of a
//! response waits for the disk only while the disk is slow: a kill may lose turns of the last few milliseconds, a
//! shutdown by signal loses nothing. A message that is sent again before it has a response is stored once.
//!
//! A failing or slow memory never fails a chat: the header `Memory-Error` then gives the reason why nothing was
//! recalled or stored. A stream can fail to be stored after its headers were sent; the next response of the
//! conversation then reports it as `Memory-Warning`.
//!
//! A request stays the text that was sent: the members of the proxy are removed, the recalled memories are
//! inserted before the last message, and all other bytes are unchanged. A response passes through as it arrives;
//! a parser reads a copy of it, and the text counts once it is complete.
//!
//! A principal of a shared database has conversations and facts of its own, and recalls those, the standing memories of its scopes, and
//! nothing else. It has access to the chats and the list of models only, because other paths of the upstream server, such as stored files
//! and batches, contain data of all who use the same API key.
//!
//! Memory has a time limit. A message finds turns that are still queued as well as written ones. The lock of the
//! cached index is not held during disk access, and readers use a copy that shares all unchanged data.

mod chat_completions;
mod chat_proxy;
mod event_stream;
mod exchange;
mod forward;
mod json_ranges;
mod relayed_body;
mod reply;
mod request;
mod routes;
mod turn_writer;
mod upstream;

pub use chat_proxy::{
    ChatProxy, ClientEmbedder, ClientModel, LastModel, OpenHome, OpenPrincipalChats,
    PrincipalChats, ProxyRules,
};
#[cfg(feature = "testing")]
pub use reply::streamed_outcome;
pub(super) use routes::{shared_routes, standalone_routes};
pub use turn_writer::ProxyObserver;
pub use upstream::{Upstream, UpstreamError};
