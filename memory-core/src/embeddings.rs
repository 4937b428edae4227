//! The storage interface of embeddings.

use std::fmt::Debug;

use crate::{ContentHash, Memory, MemoryId, StoreError};

/// A store of vectors of the memories' texts, separate for each model.
///
/// Every implementation passes `testing::embeddings_suite`. Vectors can be recomputed, so a store may lose them. A
/// vector belongs to one text: once the text of the memory changes, the memory counts as having no vector; if the text
/// changes back, the vector may count again.
pub trait Embeddings: Debug + Send + Sync {
    /// Returns the memories without a vector of the model `identity` for their current text, newest first.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns whether the store has any vectors of the model `identity`.
    ///
    /// Without `identity`, vectors of all models count. If there are no vectors, embedding a query is pointless. Damaged
    /// vectors count, so that a search can report that it lacks them. The check only tests for their existence.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError>;

    /// Returns the cosine similarity of the vectors of each pair of memories.
    ///
    /// It is `None` unless one model has readable vectors for the current texts of both.
    ///
    /// # Errors
    /// If the stored vectors cannot be read.
    fn cosines(&self, pairs: &[(MemoryId, MemoryId)]) -> Result<Vec<Option<f32>>, StoreError>;

    /// Stores vectors of the model `identity` atomically, and returns their number.
    ///
    /// Vectors of texts that have changed concurrently, and of deleted memories, are skipped. Once the call
    /// returns, stored vectors survive a crash.
    ///
    /// # Errors
    /// If a vector does not fit the model, or the vectors cannot be written.
    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError>;
}

/// The vector of a memory's text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextVector {
    /// The memory.
    pub id: MemoryId,
    /// The hash of the text, see [`embedded_text`].
    pub text: ContentHash,
    /// The vector, of length 1; a zero vector means that the model cannot read the text.
    pub vector: Vec<f32>,
}

/// Returns the text of a memory to embed: its title, if any, and its content.
pub fn embedded_text(memory: &Memory) -> String {
    match &memory.title {
        Some(title) => format!("{title}\n\n{}", memory.content),
        None => memory.content.clone(),
    }
}
