//! The vectors of texts.

use crate::{ContentHash, Embedding, Memory, MemoryId};

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
