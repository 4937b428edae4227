//! Operations that add facts or delete or restore entries of conversations, and their undo.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::add::redact_secrets;
use super::{ConversationId, Conversations, EntryChange, EntryId, EntryRole};
use crate::secret::Checked;
use crate::{
    Clock, IdSource, Operation, OperationId, Recorded, StoreError, Undone, Verb, find_by_prefix,
};

/// Changes a conversation, with credentials redacted in added entries.
///
/// A change that adds facts or deletes entries is recorded as an operation, which [`undo()`] reverts. If an interrupted call is repeated with the same
/// changes, each change is made and recorded once.
///
/// # Errors
/// An error of the store.
pub fn change(
    conversations: &Conversations,
    conversation: &ConversationId,
    changes: &[EntryChange],
    verb: Verb,
    by: &str,
) -> Result<(), StoreError> {
    let redacted = |change: &EntryChange| match change.clone() {
        EntryChange::Add(mut entry) => {
            entry.content = redact_secrets(&entry.content);
            EntryChange::Add(entry)
        }
        delete @ EntryChange::Delete { .. } => delete,
    };
    let changes: Vec<EntryChange> = changes.iter().map(redacted).collect();
    let changes = Checked::allowed(changes.as_slice());
    if !changes.iter().any(EntryChange::is_recorded) {
        return conversations.store.commit(conversation, changes);
    }
    let operation = Operation::new(
        verb,
        by,
        conversations.clock.as_ref(),
        conversations.ids.as_ref(),
    );
    conversations
        .store
        .commit_operation(conversation, changes, &operation)
}

/// An operation on conversations in the log.
pub type ConversationRecord = Recorded<ConversationSubject>;

/// The entries that an operation changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSubject {
    /// The conversation.
    pub conversation: ConversationId,
    /// The entries that it added.
    pub added: Vec<EntryId>,
    /// The entries that it deleted, each with its replacement, if any.
    pub deleted: Vec<(EntryId, Option<EntryId>)>,
}

/// A deleted entry that is still in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedEntry {
    /// The id.
    pub id: EntryId,
    /// The conversation.
    pub conversation: ConversationId,
    /// The role.
    pub role: EntryRole,
    /// The path before the deletion.
    pub path: String,
    /// The path in the trash, relative to the folder of the conversations.
    pub trash: String,
    /// The size in bytes.
    pub size: u64,
    /// The time of the deletion, according to the file system.
    pub at: DateTime<Utc>,
    /// The operation that deleted it, if it is recorded.
    pub operation: Option<(OperationId, Verb)>,
}

/// The interface to the operations and the trash of a folder of conversations.
///
/// All methods may be called from any thread and from multiple processes concurrently.
pub trait ConversationOperations: Debug + Send + Sync {
    /// Returns the operations, newest first.
    ///
    /// # Errors
    /// If the operations cannot be read.
    fn operations(&self) -> Result<Vec<ConversationRecord>, StoreError>;

    /// Reverts the operation `undone`, and returns it.
    ///
    /// The entries that it added are deleted, and those that it deleted are restored. The undo is an operation itself; undoing it restores
    /// the effect of the first. If the undo is interrupted, a repeated call completes it.
    ///
    /// # Errors
    /// [`StoreError::OperationNotFound`] if it does not exist or its deleted entries were purged; [`StoreError::Invalid`] if it was already
    /// undone; [`StoreError::Conflict`] if its added entries were changed afterwards. Then nothing is changed.
    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<ConversationRecord, StoreError>;

    /// Returns the deleted entries, last deleted first.
    ///
    /// # Errors
    /// If the entries cannot be read.
    fn trashed(&self) -> Result<Vec<DeletedEntry>, StoreError>;

    /// Restores a deleted entry, and returns its path.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if it is a summary or already exists; [`StoreError::TrashNotFound`] if it was purged.
    fn restore(&self, entry: &DeletedEntry, operation: &Operation) -> Result<String, StoreError>;

    /// Purges entries deleted before `before`, and the log of whole months that ended before it.
    ///
    /// Returns the number of files and bytes purged.
    ///
    /// # Errors
    /// If the trash cannot be read or purged.
    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError>;
}

/// A folder of conversations, with its operations.
#[derive(Debug, Clone)]
pub struct ConversationLocation {
    /// The path of the folder, for display.
    pub place: String,
    /// The operations and the trash of the folder.
    pub store: Arc<dyn ConversationOperations>,
}

/// The result of an undo.
pub type ConversationUndoReport = Undone<ConversationSubject>;

/// Returns the newest operation that can be undone, if there is one.
///
/// # Errors
/// If the operations cannot be read.
pub fn last(store: &dyn ConversationOperations) -> Result<Option<ConversationRecord>, StoreError> {
    Ok(store.operations()?.into_iter().find(Recorded::is_open))
}

/// Undoes the operation that `reference`, a prefix of its id with at least 4 digits, identifies.
///
/// # Errors
/// Those of [`ConversationOperations::undo`]; [`StoreError::Ambiguous`] if several operations match.
pub fn undo(
    store: &dyn ConversationOperations,
    reference: &str,
    clock: &dyn Clock,
    ids: &dyn IdSource,
) -> Result<ConversationUndoReport, StoreError> {
    let record = find_by_prefix(
        store.operations()?.into_iter().map(Ok::<_, StoreError>),
        reference,
    )?;
    let operation = Operation::new(Verb::Undo, "cli", clock, ids);
    let record = store.undo(&record.operation.id, &operation)?;
    Ok(Undone::new(record, operation.id))
}

/// Restores the last deleted entry that matches `reference`, and returns it with its new path.
///
/// `reference` is the id, a prefix of it with at least 4 characters, the file name, or the path in the trash.
///
/// # Errors
/// [`StoreError::TrashNotFound`] if no entry matches; those of [`ConversationOperations::restore`].
pub fn restore(
    store: &dyn ConversationOperations,
    reference: &str,
    clock: &dyn Clock,
    ids: &dyn IdSource,
) -> Result<(DeletedEntry, String), StoreError> {
    let wanted = reference.trim();
    let is_wanted = |entry: &DeletedEntry| {
        let name = entry.trash.rsplit('/').next().unwrap_or_default();
        let is_id = 4 <= wanted.len() && entry.id.as_str().starts_with(&wanted.to_lowercase())
            || entry.id.as_str() == wanted;
        entry.trash == wanted
            || name.trim_end_matches(".md") == wanted.trim_end_matches(".md")
            || is_id
    };
    let missing = || StoreError::TrashNotFound {
        reference: reference.to_owned(),
        earlier: None,
    };
    let entry = store
        .trashed()?
        .into_iter()
        .find(is_wanted)
        .ok_or_else(missing)?;
    let path = store.restore(&entry, &Operation::new(Verb::Restore, "cli", clock, ids))?;
    Ok((entry, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretPolicy;
    use crate::conversation::{ConversationEntry, add};
    use crate::testing::{FakeConversations, conversations};

    #[test]
    fn what_a_change_adds_holds_no_credential() {
        let all = conversations(Arc::new(FakeConversations::default()));
        let place = ConversationId::default_conversation();
        let known = add(
            &all,
            &place,
            &["The user loves pizza.".to_owned()],
            SecretPolicy::Refuse,
        )
        .unwrap()
        .remove(0);
        let secret = "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345.";
        let id: EntryId = "new".parse().unwrap();
        let new = ConversationEntry::new(
            id.clone(),
            &place,
            EntryRole::Memory,
            secret,
            DateTime::UNIX_EPOCH,
        );
        let changes = [
            EntryChange::Add(new),
            EntryChange::Delete {
                id: known.id,
                replaced_by: Some(id),
            },
        ];
        for changes in [&changes[..], &changes[..1]] {
            change(&all, &place, changes, Verb::Reconcile, "model").unwrap();
            let facts = all.store.read(&place).unwrap().entries();
            assert_eq!(facts.len(), 1);
            assert!(
                facts[0].content.starts_with("The key is ")
                    && !facts[0].content.contains("abcdefghij"),
                "{facts:?}"
            );
        }
    }
}
