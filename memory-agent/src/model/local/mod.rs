//! BERT and XLM-R models and static embeddings that run on this machine's processor.
//!
//! | file | contents |
//! |---|---|
//! | `embedder` | the embedding model |
//! | `reranker` | the reranking model |
//! | `bert` | the network: weights and forward pass |
//! | `static_table` | models without a network: the mean of the tokens' vectors |
//! | `tokenizer` | conversion of texts to tokens |
//! | `sentence_transformer` | configuration of sentence transformers: pooling and input length |
//! | `folder` | access to the files of a model, and its identity |
//! | `unsafe_ops` | the only unsafe code: memory-mapping and matrix multiplication |

mod bert;
mod embedder;
mod folder;
mod reranker;
mod sentence_transformer;
mod static_table;
mod tokenizer;
mod unsafe_ops;

pub use embedder::LocalEmbedder;
pub use reranker::LocalReranker;

use folder::{ModelError, ModelFolder};
