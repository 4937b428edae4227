//! Models that make memories better. None is ever required.
//!
//! | a model | feature | what it needs |
//! |---|---|---|
//! | [`LocalEmbedder`] | `local-model` | a folder with a sentence transformer, such as all-MiniLM-L6-v2, or a model2vec model |
//! | [`LocalReranker`] | `local-model` | a folder with a cross-encoder, such as ms-marco-MiniLM-L-6-v2 |
//! | [`RemoteEmbedder`] | `remote-model` | the address of a server that speaks the protocol of `OpenAI`, and perhaps a key |
//! | [`RemoteChat`] | `remote-model` | the same, for a language model |
//!
//! A [`Patient`] waits for a reranker only so long. Local models are as they are published: `config.json`, `tokenizer.json` (or `vocab.txt`) and
//! `model.safetensors` in one folder, with BERT, XLM-R or no network at all. A text in a script that the vocabulary was not made for
//! has no vector: its words decide. Nothing is ever downloaded.

#[cfg(feature = "local-model")]
mod known;
#[cfg(feature = "local-model")]
mod local;
mod patience;
#[cfg(feature = "remote-model")]
mod remote;
mod unit;

#[cfg(feature = "local-model")]
pub use known::{KNOWN_MODELS, KnownModel};
#[cfg(feature = "local-model")]
pub use local::{LocalEmbedder, LocalReranker};
pub use patience::Patient;
#[cfg(feature = "remote-model")]
pub use remote::{ApiKey, ApiKeyError, ChatSettings, RemoteChat, RemoteEmbedder, RemoteSettings};
