//! The dependencies of the conversation operations.

use std::sync::Arc;

use super::{ConversationStore, EntryId};
use crate::{ChatModel, Clock, Embedder, IdSource, Reranker};

/// The dependencies of the conversation operations, behind traits.
#[derive(Debug, Clone)]
pub struct Conversations {
    /// The store of the conversations.
    pub store: Arc<dyn ConversationStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn IdSource>,
    /// The embedding model, if there is one.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The cross-encoder that scores the relevance of memories, if there is one.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// The language model, if there is one; it enforces its own budget.
    pub chat: Option<Arc<dyn ChatModel>>,
}

impl Conversations {
    /// Returns an unused entry id.
    pub(super) fn entry_id(&self) -> EntryId {
        self.ids.memory_id().into()
    }
}
