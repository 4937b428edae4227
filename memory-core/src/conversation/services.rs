//! What the use cases of conversations work with.

use std::sync::Arc;

use super::{ConversationStore, EntryId};
use crate::{ChatModel, Clock, Embedder, IdSource, Reranker};

/// Conversations, and the machine behind traits.
#[derive(Debug, Clone)]
pub struct Conversations {
    /// Where they are kept.
    pub store: Arc<dyn ConversationStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New names.
    pub ids: Arc<dyn IdSource>,
    /// The model that turns texts into vectors, if there is one.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The cross-encoder that tells how relevant a memory is, if there is one.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// The language model, if there is one; it keeps to its budget by itself.
    pub chat: Option<Arc<dyn ChatModel>>,
}

impl Conversations {
    /// Returns an id that no entry has.
    pub(super) fn entry_id(&self) -> EntryId {
        self.ids.memory_id().into()
    }
}
