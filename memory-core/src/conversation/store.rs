//! The storage interface of conversations, and the services of their use cases.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{
    ConversationEntry, ConversationId, ConversationIndex, EntryId, EntryRole, EntryVector,
    MAX_CONTENT,
};
use crate::secret::Checked;
use crate::{ChatModel, Clock, Embedder, IdSource, Operation, Reranker, StoreError};

/// A store of conversations. Every implementation passes `testing::conversation_suite`.
///
/// All methods may be called from any thread and from multiple processes concurrently. No data is destroyed: deleted entries and replaced
/// summaries remain as tombstones.
pub trait ConversationStore: Debug + Send + Sync {
    /// Returns the location, for display.
    fn location(&self) -> String;

    /// Returns the conversations with at least one entry, by name.
    ///
    /// # Errors
    /// If the conversations cannot be read.
    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError>;

    /// Returns the active entries of a conversation; they are empty if it does not exist.
    ///
    /// The result includes which turns are superseded by deleted facts: see [`ConversationIndex::is_superseded`].
    ///
    /// The set of entries is current. The content of an entry that another program edited in place is current in a conversation of up to a
    /// few hundred entries, otherwise at most one minute old; [`ConversationStore::recheck_entries`] rechecks single entries.
    ///
    /// # Errors
    /// If the conversation cannot be read. Defects of single files are reported by [`ConversationIndex::problems`].
    fn read(&self, conversation: &ConversationId) -> Result<Arc<ConversationIndex>, StoreError>;

    /// Returns the active turns of the user after `moment` in all conversations, in unspecified order.
    ///
    /// # Errors
    /// If the conversations cannot be read.
    fn user_turns_since(
        &self,
        moment: DateTime<Utc>,
    ) -> Result<Vec<Arc<ConversationEntry>>, StoreError>;

    /// Rechecks some entries, and returns whether one of them has changed since the last read.
    ///
    /// The next [`ConversationStore::read`] then returns their current content.
    ///
    /// # Errors
    /// If the entries cannot be read.
    fn recheck_entries(
        &self,
        conversation: &ConversationId,
        ids: &[EntryId],
    ) -> Result<bool, StoreError>;

    /// Returns the deleted entries of a conversation, by time, then by id.
    ///
    /// # Errors
    /// If the folder cannot be read. Files that cannot be parsed as an entry are skipped.
    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<ConversationEntry>, StoreError>;

    /// Makes changes in order, except that additions precede deletions.
    ///
    /// Once this returns, the changes survive a crash and a power loss.
    ///
    /// If it fails or is interrupted, each change was made or was not made, and no entry is lost. A repeated call with the same changes
    /// makes each of them once: the addition of an entry that exists or was deleted since, and the deletion of a missing entry, have no
    /// effect.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if an entry is longer than [`MAX_CONTENT`], or a disk error.
    fn commit(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
    ) -> Result<(), StoreError>;

    /// Makes changes of several conversations like [`ConversationStore::commit`], in less time.
    ///
    /// # Errors
    /// Those of [`ConversationStore::commit`], for all conversations: each change may have been made.
    fn commit_all(
        &self,
        changes: &[(&ConversationId, Checked<&[EntryChange]>)],
    ) -> Result<(), StoreError>;

    /// Makes changes like [`ConversationStore::commit`], and first records them as an operation.
    ///
    /// Every change that adds facts or deletes entries uses this method, through [`change()`](super::change()) or [`add()`](super::add()). Changes without
    /// such a change are not recorded.
    ///
    /// A repeated call with the same changes records nothing. If the operation was undone since, it also changes nothing, and an entry that
    /// was restored since is not deleted again.
    ///
    /// # Errors
    /// Those of [`ConversationStore::commit`].
    fn commit_operation(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
        operation: &Operation,
    ) -> Result<(), StoreError>;

    /// Stores vectors of the model `identity`; [`ConversationIndex::vector`] returns them for texts that have one.
    ///
    /// Vectors can be recomputed, so they may be lost. Those of another model may be deleted.
    ///
    /// # Errors
    /// If a vector is not valid for this model or cannot be stored.
    fn store_vectors(
        &self,
        conversation: &ConversationId,
        identity: &str,
        vectors: &[EntryVector],
    ) -> Result<(), StoreError>;
}

/// A change of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryChange {
    /// Adds an entry. A summary replaces the previous one.
    Add(ConversationEntry),
    /// Deletes an entry, which may have a replacement.
    Delete {
        /// The id of the entry.
        id: EntryId,
        /// The replacement, if there is one.
        replaced_by: Option<EntryId>,
    },
}

impl EntryChange {
    /// Returns whether an operation with this change is recorded: turns and summaries alone are not.
    pub fn is_recorded(&self) -> bool {
        match self {
            Self::Add(entry) => entry.role == EntryRole::Memory,
            Self::Delete { .. } => true,
        }
    }

    /// Checks whether a store accepts this change.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if an entry is longer than [`MAX_CONTENT`].
    pub fn check(&self) -> Result<(), StoreError> {
        match self {
            Self::Add(entry) if MAX_CONTENT < entry.content.len() => {
                let length = entry.content.len();
                Err(StoreError::Invalid {
                    why: format!("the text has {length} bytes; the maximum is {MAX_CONTENT}"),
                })
            }
            Self::Add(_) | Self::Delete { .. } => Ok(()),
        }
    }
}

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
