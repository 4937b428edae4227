//! Where the vectors of memories are kept.

use std::fmt::Debug;

use crate::{ContentHash, Memory, MemoryId, StoreError};

/// Keeps vectors of the memories' texts, apart for each model. Every implementation passes `testing::embeddings_suite`.
///
/// What is kept can be made again, so whoever keeps it may lose it. A vector is of one text: once the memory says
/// something else it counts as not there, and once it says the same again it may count again.
pub trait Embeddings: Debug + Send + Sync {
    /// Returns the memories that have no vector of the model `identity` for the text they have now, newest first.
    ///
    /// # Errors
    /// When what is kept cannot be read.
    fn lacking(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError>;

    /// Tells whether any vectors are kept, of the model `identity` or else of any: without one no question is worth a vector.
    /// Damaged ones count, so that a question says that it misses them. It takes no longer than to see that they are there.
    ///
    /// # Errors
    /// When what is kept cannot be read.
    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError>;

    /// Returns how near each two memories are: the cosine of their vectors, where one model can read the texts that both have now.
    ///
    /// # Errors
    /// When what is kept cannot be read.
    fn cosines(&self, pairs: &[(MemoryId, MemoryId)]) -> Result<Vec<Option<f32>>, StoreError>;

    /// Keeps vectors of the model `identity`, all of them or none; those of texts that have changed in the meantime, or whose
    /// memories are gone, are left out. Returns how many were kept. Once this returns, a crash does not lose them.
    ///
    /// # Errors
    /// When something is no vector of this model, or cannot be kept.
    fn keep_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError>;
}

/// The vector of a memory's text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextVector {
    /// The memory.
    pub id: MemoryId,
    /// The hash of the text, see [`embedded_text`].
    pub text: ContentHash,
    /// Its vector, of length 1; or of zeros, which is near to none and says that the model cannot read the text.
    pub vector: Vec<f32>,
}

/// Returns the text of a memory that a model is shown: its title, if it has one, and what it says.
pub fn embedded_text(memory: &Memory) -> String {
    match &memory.title {
        Some(title) => format!("{title}\n\n{}", memory.content),
        None => memory.content.clone(),
    }
}
