//! The storage interface of embeddings.

use std::fmt::Debug;

use crate::{ContentHash, Embedding, Memory, MemoryId, StoreError};

/// A store of vectors of the memories' texts, separate for each model.
///
/// A text has a vector for each of its passages, and is as similar as the most similar of them.
/// Every implementation passes `testing::embeddings_suite`. Vectors can be recomputed, so a store may lose them. A
/// vector belongs to one text: once the text of the memory changes, the memory counts as having no vector; if the text
/// changes back, the vector may count again.
pub trait Embeddings: Debug + Send + Sync {
    /// Returns the memories without a vector of the model `identity` for their current text, newest first.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns the number of memories without a vector of the model `identity` for their current text.
    ///
    /// A store of many memories computes it from totals. After a power cut it may be too low, by vectors that were lost. A view of a
    /// large store for an agent does not count, and returns 0.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn count_without_vector(&self, identity: &str) -> Result<u64, StoreError>;

    /// Returns whether the store has any vectors of the model `identity`.
    ///
    /// Without `identity`, vectors of all models count. If there are no vectors, embedding a query is pointless. Damaged
    /// vectors count, so that a search can report that it lacks them. The check only tests for their existence.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError>;

    /// Stores vectors of the model `identity` atomically, and returns their number.
    ///
    /// Vectors of texts that have changed concurrently, and of deleted memories, are skipped. Once the call
    /// returns, stored vectors survive a crash.
    ///
    /// # Errors
    /// If a vector does not fit the model, or the vectors cannot be written.
    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError>;
}

/// The vectors of a memory's text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextVector {
    /// The memory.
    pub id: MemoryId,
    /// The hash of the text, see [`embedded_text`].
    pub text: ContentHash,
    /// The vectors of all its passages in order, each of length 1, see [`crate::embedded_passages`].
    ///
    /// A zero vector means that the model cannot read the passage.
    pub vectors: Vec<Embedding>,
}

/// Returns the text of a memory: its title, if any, and its content. Vectors belong to its hash.
pub fn embedded_text(memory: &Memory) -> String {
    match &memory.title {
        Some(title) => format!("{title}\n\n{}", memory.content),
        None => memory.content.clone(),
    }
}
