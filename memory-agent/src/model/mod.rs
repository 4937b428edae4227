//! Optional models for embeddings, reranking and chat.
//!
//! | a model | requirements |
//! |---|---|
//! | `BundledEmbedder` (feature `meaning`) | none: it is part of the program |
//! | [`LocalEmbedder`] | a folder with a sentence transformer, such as all-MiniLM-L6-v2, or a model2vec model |
//! | [`LocalReranker`] | a folder with a cross-encoder, such as ms-marco-MiniLM-L-6-v2 |
//! | [`RemoteEmbedder`] | the address of a server with an `OpenAI`-compatible API, and an optional API key |
//! | [`RemoteChat`] | the same, for a language model |
//!
//! [`TimeoutReranker`] adds a timeout to a reranker. Local models use their published files: `config.json`, `tokenizer.json`
//! (or `vocab.txt`) and `model.safetensors` in one folder. Supported architectures are BERT, XLM-R and static
//! embeddings (no network). A text in a script that the vocabulary does not cover gets no vector; it is found by its
//! words only. No model is ever downloaded.

#[cfg(feature = "meaning")]
mod bundled;
mod known_models;
mod local;
mod parallel;
mod remote;
mod timeout;
mod unit_vector;

#[cfg(feature = "meaning")]
pub use bundled::BundledEmbedder;
pub use known_models::{BUILT_IN_MODEL, KNOWN_MODELS, KnownModel};
pub use local::{LocalEmbedder, LocalReranker};
pub use remote::{
    ApiKey, ApiKeyError, ChatSettings, RemoteChat, RemoteEmbedder, RemoteSettings, ServerAddress,
    is_host,
};
pub use timeout::TimeoutReranker;
