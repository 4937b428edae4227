//! Operations that delete or restore entries of conversations, and their undo.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::add::redact_secrets;
use super::{ConversationId, Conversations, EntryChange, EntryId, EntryRole};
use crate::{Clock, IdSource, OperationId, StoreError};

/// The metadata of a change that deletes or restores entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationOperation {
    /// The id.
    pub id: OperationId,
    /// The time.
    pub at: DateTime<Utc>,
    /// The kind of operation.
    pub verb: ConversationVerb,
    /// The actor: `model`, `proxy` or `cli`.
    pub by: String,
}

/// The kind of an operation on a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConversationVerb {
    /// Deleted or replaced existing facts because of new ones.
    Reconcile,
    /// Deleted the oldest facts and turns, because the limit was exceeded.
    Evict,
    /// Restored a deleted entry.
    Restore,
    /// Undid an operation.
    Undo,
}

impl ConversationVerb {
    /// All kinds of operations.
    pub const ALL: [Self; 4] = [Self::Reconcile, Self::Evict, Self::Restore, Self::Undo];

    /// Returns the name of the operation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reconcile => "reconcile",
            Self::Evict => "evict",
            Self::Restore => "restore",
            Self::Undo => "undo",
        }
    }
}

/// Changes a conversation, with credentials redacted in added entries.
///
/// A change that deletes entries is recorded as an operation, which [`undo()`] reverts. If an interrupted call is repeated with the same
/// changes, each change is made and recorded once.
///
/// # Errors
/// An error of the store.
pub fn change(
    conversations: &Conversations,
    conversation: &ConversationId,
    changes: &[EntryChange],
    verb: ConversationVerb,
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
    if !changes.iter().any(|change| matches!(change, EntryChange::Delete { .. })) {
        return conversations.store.commit(conversation, &changes);
    }
    let operation = new_operation(conversations.clock.as_ref(), conversations.ids.as_ref(), verb, by);
    conversations.store.commit_operation(conversation, &changes, &operation)
}

fn new_operation(clock: &dyn Clock, ids: &dyn IdSource, verb: ConversationVerb, by: &str) -> ConversationOperation {
    ConversationOperation { id: ids.operation_id(), at: clock.now(), verb, by: by.to_owned() }
}

/// A record in the log of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRecord {
    /// The operation.
    pub operation: ConversationOperation,
    /// The conversation.
    pub conversation: ConversationId,
    /// The entries that it added.
    pub added: Vec<EntryId>,
    /// The entries that it deleted, each with its replacement, if any.
    pub deleted: Vec<(EntryId, Option<EntryId>)>,
    /// The operation that it reverted, if this is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that reverted it, if any.
    pub undone_by: Option<OperationId>,
}

/// Sets `undone_by` of each of `records`, which are ordered newest first.
///
/// An undo that was itself undone has no effect.
pub fn mark_undone(records: &mut [ConversationRecord]) {
    let mut undone = HashMap::new();
    for record in records {
        record.undone_by = undone.remove(&record.operation.id);
        if let (None, Some(other)) = (&record.undone_by, &record.undoes) {
            undone.insert(other.clone(), record.operation.id.clone());
        }
    }
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
    pub operation: Option<(OperationId, ConversationVerb)>,
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
    fn undo(&self, undone: &OperationId, operation: &ConversationOperation) -> Result<ConversationRecord, StoreError>;

    /// Returns the deleted entries, last deleted first.
    ///
    /// # Errors
    /// If the entries cannot be read.
    fn trashed(&self) -> Result<Vec<DeletedEntry>, StoreError>;

    /// Restores a deleted entry, and returns its path.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if it is a summary or already exists; [`StoreError::TrashNotFound`] if it was purged.
    fn restore(&self, entry: &DeletedEntry, operation: &ConversationOperation) -> Result<String, StoreError>;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationUndoReport {
    /// The operation that was undone.
    pub record: ConversationRecord,
    /// The id of the undo operation.
    pub undo: OperationId,
}

/// Returns the newest operation that can be undone, if there is one.
///
/// # Errors
/// If the operations cannot be read.
pub fn last(store: &dyn ConversationOperations) -> Result<Option<ConversationRecord>, StoreError> {
    let is_open = |record: &ConversationRecord| record.operation.verb != ConversationVerb::Undo && record.undone_by.is_none();
    Ok(store.operations()?.into_iter().find(is_open))
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
    let wanted = reference.trim().to_lowercase();
    let is_wanted = |record: &ConversationRecord| 4 <= wanted.len() && record.operation.id.as_str().starts_with(&wanted);
    let mut found = store.operations()?.into_iter().filter(is_wanted);
    let missing = || StoreError::OperationNotFound { wanted: format!("no operation has the id {reference}") };
    let record = found.next().ok_or_else(missing)?;
    if let Some(other) = found.next() {
        let candidates = vec![record.operation.id.to_string(), other.operation.id.to_string()];
        return Err(StoreError::Ambiguous { reference: wanted, candidates });
    }
    let operation = new_operation(clock, ids, ConversationVerb::Undo, "cli");
    let record = store.undo(&record.operation.id, &operation)?;
    Ok(ConversationUndoReport { record, undo: operation.id })
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
        let is_id = 4 <= wanted.len() && entry.id.as_str().starts_with(&wanted.to_lowercase()) || entry.id.as_str() == wanted;
        entry.trash == wanted || name.trim_end_matches(".md") == wanted.trim_end_matches(".md") || is_id
    };
    let missing = || StoreError::TrashNotFound { reference: reference.to_owned() };
    let entry = store.trashed()?.into_iter().find(is_wanted).ok_or_else(missing)?;
    let path = store.restore(&entry, &new_operation(clock, ids, ConversationVerb::Restore, "cli"))?;
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
        let known = add(&all, &place, &["The user loves pizza.".to_owned()], SecretPolicy::Refuse).unwrap().remove(0);
        let secret = "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345.";
        let id: EntryId = "new".parse().unwrap();
        let new = ConversationEntry::new(id.clone(), &place, EntryRole::Memory, secret, DateTime::UNIX_EPOCH);
        let changes = [EntryChange::Add(new), EntryChange::Delete { id: known.id, replaced_by: Some(id) }];
        for changes in [&changes[..], &changes[..1]] {
            change(&all, &place, changes, ConversationVerb::Reconcile, "model").unwrap();
            let facts = all.store.read(&place).unwrap().entries();
            assert_eq!(facts.len(), 1);
            assert!(facts[0].content.starts_with("The key is ") && !facts[0].content.contains("abcdefghij"), "{facts:?}");
        }
    }

    #[test]
    fn an_undo_that_was_undone_reverts_nothing() {
        let record = |number: u64, undoes: Option<u64>| ConversationRecord {
            operation: ConversationOperation {
                id: OperationId::from_random(number),
                at: DateTime::UNIX_EPOCH,
                verb: if undoes.is_some() { ConversationVerb::Undo } else { ConversationVerb::Evict },
                by: "proxy".into(),
            },
            conversation: ConversationId::default_conversation(),
            added: Vec::new(),
            deleted: Vec::new(),
            undoes: undoes.map(OperationId::from_random),
            undone_by: None,
        };
        let mut records = vec![record(3, Some(2)), record(2, Some(1)), record(1, None)];
        mark_undone(&mut records);
        let undone: Vec<_> = records.iter().map(|record| record.undone_by.clone()).collect();
        assert_eq!(undone, [None, Some(OperationId::from_random(3)), None]);
        mark_undone(&mut records[1..]);
        assert_eq!(records[2].undone_by, Some(OperationId::from_random(2)));
    }
}
