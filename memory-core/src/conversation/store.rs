//! Where conversations are kept.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{ConversationId, ConversationOperation, Entry, EntryId, MAX_CONTENT, Shelf};
use crate::{ContentHash, StoreError};

/// One place that keeps conversations. Every implementation passes `testing::conversation_suite`.
///
/// All methods may be called from any thread and from many processes at once. Nothing is destroyed: what is deleted, and a summary
/// whose place is taken, stays as a tombstone.
pub trait ConversationStore: Debug + Send + Sync {
    /// Returns where it is, for people.
    fn place(&self) -> String;

    /// Returns the conversations of which something is kept, by name.
    ///
    /// # Errors
    /// When that cannot be read.
    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError>;

    /// Returns what is kept of a conversation and was not deleted; nothing if there is no such conversation. It knows of deleted facts
    /// which turns they supersede: see [`Shelf::is_superseded`].
    ///
    /// Which entries there are is known as of now. What an entry says, where others changed it in place, is known as of now among some
    /// hundreds of entries, and else as of the last minute; [`ConversationStore::look_again`] sees to single ones.
    ///
    /// # Errors
    /// When that cannot be read. What is wrong with one file is told by [`Shelf::problems`].
    fn read(&self, conversation: &ConversationId) -> Result<Arc<Shelf>, StoreError>;

    /// Returns what people said after a moment, in all conversations, as far as it was not deleted; in no order.
    ///
    /// # Errors
    /// When that cannot be read.
    fn asked_since(&self, moment: DateTime<Utc>) -> Result<Vec<Arc<Entry>>, StoreError>;

    /// Looks at some entries again, and returns whether one of them is no longer what [`ConversationStore::read`] told last. Then that
    /// tells what they are now.
    ///
    /// # Errors
    /// When that cannot be read.
    fn look_again(&self, conversation: &ConversationId, ids: &[EntryId]) -> Result<bool, StoreError>;

    /// Returns what was deleted of a conversation, by time, then by id.
    ///
    /// # Errors
    /// When that cannot be read. What cannot be read as an entry is left out.
    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<Entry>, StoreError>;

    /// Makes changes, in their order, but what is new before what goes. Once this returns, neither a crash nor a power cut loses any.
    ///
    /// If it fails or is cut off, each change was made or was not, no entry is lost, and to ask for the same changes again is to make
    /// each of them once: to add what is there, or was deleted since, and to delete what is gone, changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if an entry is longer than [`MAX_CONTENT`]; whatever the disk refuses.
    fn commit(&self, conversation: &ConversationId, changes: &[EntryChange]) -> Result<(), StoreError>;

    /// Makes changes of several conversations as [`ConversationStore::commit`] makes those of each, in less time.
    ///
    /// # Errors
    /// As [`ConversationStore::commit`], for all of them: each change may have been made.
    fn commit_all(&self, changes: &[(&ConversationId, &[EntryChange])]) -> Result<(), StoreError>;

    /// Makes changes as [`ConversationStore::commit`] does, and records what they add and delete as an operation before the first is
    /// made. Changes that take entries away come through here, by [`change()`](super::change()).
    ///
    /// To ask for the same changes again records nothing; if the operation was undone since, nothing is changed either, and an entry
    /// that was restored since is not deleted again.
    ///
    /// # Errors
    /// As [`ConversationStore::commit`].
    fn commit_operation(
        &self,
        conversation: &ConversationId,
        changes: &[EntryChange],
        operation: &ConversationOperation,
    ) -> Result<(), StoreError>;

    /// Keeps vectors of the model `identity`, which [`Shelf::vector`] tells from then on for texts that have one. They can be made
    /// again, so they may be lost; those of another model may be let go.
    ///
    /// # Errors
    /// When something is no vector of this model, or cannot be kept.
    fn keep_vectors(&self, conversation: &ConversationId, identity: &str, vectors: &[EntryVector]) -> Result<(), StoreError>;
}

/// What is to become of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryChange {
    /// It is kept. A summary takes the place of the former one.
    Add(Entry),
    /// It is deleted, perhaps because another took its place.
    Delete {
        /// Which.
        id: EntryId,
        /// What took its place.
        replaced_by: Option<EntryId>,
    },
}

impl EntryChange {
    /// Tells whether this may be asked of a store.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if an entry is longer than [`MAX_CONTENT`].
    pub fn check(&self) -> Result<(), StoreError> {
        match self {
            Self::Add(entry) if MAX_CONTENT < entry.content.len() => {
                let length = entry.content.len();
                Err(StoreError::Invalid {
                    why: format!("the text has {length} bytes, more than the {MAX_CONTENT} that are kept"),
                })
            }
            Self::Add(_) | Self::Delete { .. } => Ok(()),
        }
    }
}

/// The vector of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryVector {
    /// The hash of the text.
    pub text: ContentHash,
    /// The vector, of length 1.
    pub vector: Vec<f32>,
}
