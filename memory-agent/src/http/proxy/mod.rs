//! A language model that remembers: what speaks the protocol of OpenAI asks here instead, and gets a memory.
//!
//! | request | what becomes of it |
//! |---|---|
//! | `POST /v1/chat/completions` | what the person said last calls memories to mind, which go to the model with it; what both say is kept |
//! | `GET /health` | `{status, memory_store, openai_base_url, default_top_k}`; where nothing else is served |
//! | everything else below `/v1` | goes to the model's server as it is; beside the routes of a daemon, what is none of these |
//!
//! A chat may say `memory_id` (the conversation), `memory_top_k`, `memory_recency_weight` and `memory_score_threshold`, which the model is
//! not told; an answer that comes whole says `memory_hits`. All else passes untouched: what the model is asked, but for what was
//! remembered; what it answers, as it comes. An answer that breaks off breaks off, and whoever goes has the model stop.
//!
//! What a person says is kept as soon as it is asked, whatever becomes of the answer. The end of an answer waits for the disk only while that
//! is slow: a kill may lose turns of the last few milliseconds, an end by a signal loses nothing. What is sent again before it is answered is kept once.
//!
//! A memory that is broken or slow breaks no chat: then the header `Memory-Error` says why there is nothing remembered or kept. That a
//! stream was not kept is known when its head is gone: the next answer of the conversation says so as a `Memory-Warning`.

mod complete;
mod desk;
mod events;
mod exchange;
mod forward;
mod parts;
mod relayed;
mod reply;
mod request;
mod routes;
mod scribe;
mod trust;
mod upstream;

pub use desk::{ChatProxy, ClientEmbedder, LastAsked, Model, ProxyRules};
#[cfg(feature = "testing")]
pub use reply::heard;
pub(super) use routes::{alone, beside};
pub use scribe::Told;
pub use upstream::{Upstream, UpstreamError};
