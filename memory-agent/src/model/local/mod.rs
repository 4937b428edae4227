//! BERT and XLM-R models and static embeddings out of a folder, run on this machine's processor.
//!
//! | file | what is decided there |
//! |---|---|
//! | `embedder` | how texts become vectors |
//! | `reranker` | how a question and texts become scores |
//! | `bert` | the network itself: weights and forward pass |
//! | `static_table` | models without a network: the mean of the tokens' vectors |
//! | `tokenizer` | how a text becomes tokens |
//! | `sentence` | what a sentence transformer does with the network's output |
//! | `folder` | how files of a model are read |
//! | `identity` | what tells one model from every other |
//! | `spread` | how work is spread over threads |
//! | `raw` | the only unsafe code: mapping a file, multiplying matrices |

mod bert;
mod embedder;
mod error;
mod folder;
mod identity;
mod raw;
mod reranker;
mod sentence;
mod spread;
mod static_table;
mod tokenizer;

pub use embedder::LocalEmbedder;
pub use reranker::LocalReranker;

use error::ModelError;
use folder::Folder;
