//! What was taken away from conversations, and the way back.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::add::without_secrets;
use super::{ConversationId, Conversations, EntryChange, EntryId, EntryRole};
use crate::{Clock, IdSource, OperationId, StoreError};

/// A change of a conversation that takes entries away or brings them back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationOperation {
    /// Its id.
    pub id: OperationId,
    /// When it is done.
    pub at: DateTime<Utc>,
    /// What is done.
    pub verb: ConversationVerb,
    /// Who does it: `model`, `proxy` or `cli`.
    pub by: String,
}

/// The kind of an operation on a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConversationVerb {
    /// Known facts were deleted or replaced because of new ones.
    Reconcile,
    /// The oldest facts and turns were deleted, because there were too many.
    Evict,
    /// A deleted entry was brought back.
    Restore,
    /// An operation was undone.
    Undo,
}

impl ConversationVerb {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Reconcile, Self::Evict, Self::Restore, Self::Undo];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reconcile => "reconcile",
            Self::Evict => "evict",
            Self::Restore => "restore",
            Self::Undo => "undo",
        }
    }
}

/// Changes a conversation, with credentials redacted in what is added. A change that takes entries away is recorded as an operation,
/// which [`undo()`] reverts.
///
/// To ask for the same changes again, because the first attempt was interrupted, makes and records each of them once.
///
/// # Errors
/// Whatever the store refuses.
pub fn change(
    conversations: &Conversations,
    conversation: &ConversationId,
    changes: &[EntryChange],
    verb: ConversationVerb,
    by: &str,
) -> Result<(), StoreError> {
    let redacted = |change: &EntryChange| match change.clone() {
        EntryChange::Add(mut entry) => {
            entry.content = without_secrets(&entry.content);
            EntryChange::Add(entry)
        }
        delete @ EntryChange::Delete { .. } => delete,
    };
    let changes: Vec<EntryChange> = changes.iter().map(redacted).collect();
    if !changes.iter().any(|change| matches!(change, EntryChange::Delete { .. })) {
        return conversations.store.commit(conversation, &changes);
    }
    let operation = begin(conversations.clock.as_ref(), conversations.ids.as_ref(), verb, by);
    conversations.store.commit_operation(conversation, &changes, &operation)
}

fn begin(clock: &dyn Clock, ids: &dyn IdSource, verb: ConversationVerb, by: &str) -> ConversationOperation {
    ConversationOperation { id: ids.operation_id(), at: clock.now(), verb, by: by.to_owned() }
}

/// An operation of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRecord {
    /// The operation.
    pub operation: ConversationOperation,
    /// The conversation.
    pub conversation: ConversationId,
    /// The entries that it added.
    pub added: Vec<EntryId>,
    /// The entries that it deleted, each with the entry that replaced it, if one did.
    pub deleted: Vec<(EntryId, Option<EntryId>)>,
    /// The operation that it reverted, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that reverted it, if one did.
    pub undone_by: Option<OperationId>,
}

/// Marks in `records`, newest first, which operation was reverted by which. An undo that was itself undone reverts nothing.
pub fn mark_undone(records: &mut [ConversationRecord]) {
    let mut undone = HashMap::new();
    for record in records {
        record.undone_by = undone.remove(&record.operation.id);
        if let (None, Some(other)) = (&record.undone_by, &record.undoes) {
            undone.insert(other.clone(), record.operation.id.clone());
        }
    }
}

/// A deleted entry that is still kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedEntry {
    /// Its id.
    pub id: EntryId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// Its role.
    pub role: EntryRole,
    /// Where it was.
    pub path: String,
    /// Where it is now, below the folder of the conversations.
    pub trash: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was deleted, as far as the file system knows.
    pub at: DateTime<Utc>,
    /// The operation that deleted it, if that is recorded.
    pub operation: Option<(OperationId, ConversationVerb)>,
}

/// The way back of a folder of conversations.
///
/// All methods may be called from any thread and from many processes at once.
pub trait ConversationOperations: Debug + Send + Sync {
    /// Returns the operations, newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    fn operations(&self) -> Result<Vec<ConversationRecord>, StoreError>;

    /// Reverts the operation `undone` and returns it: what it added is deleted, what it deleted comes back. That is an operation
    /// itself, and to undo it does the first again. If it is interrupted, to ask again completes it.
    ///
    /// # Errors
    /// [`StoreError::OperationNotFound`] if there is none, or what it deleted was purged; [`StoreError::Invalid`] if it was undone
    /// already; [`StoreError::Conflict`] if what it added was changed since. Nothing is changed then.
    fn undo(&self, undone: &OperationId, operation: &ConversationOperation) -> Result<ConversationRecord, StoreError>;

    /// Returns the deleted entries, last deleted first.
    ///
    /// # Errors
    /// When they cannot be read.
    fn trashed(&self) -> Result<Vec<DeletedEntry>, StoreError>;

    /// Brings a deleted entry back and returns its path.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if it is a summary, or there again; [`StoreError::TrashNotFound`] if it was purged since.
    fn restore(&self, entry: &DeletedEntry, operation: &ConversationOperation) -> Result<String, StoreError>;

    /// Removes for good what was deleted before `before`, and records of whole months that ended before it; returns how many files
    /// and bytes that was.
    ///
    /// # Errors
    /// When it cannot be read or removed.
    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError>;
}

/// A folder of conversations, and its way back.
#[derive(Debug, Clone)]
pub struct KeptConversations {
    /// The folder, for people.
    pub place: String,
    /// Its operations.
    pub store: Arc<dyn ConversationOperations>,
}

/// An operation that was undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationUndone {
    /// The operation that was undone.
    pub record: ConversationRecord,
    /// The undo, which is an operation as well.
    pub undo: OperationId,
}

/// Returns the newest operation that can be undone, if there is one.
///
/// # Errors
/// When the operations cannot be read.
pub fn last(store: &dyn ConversationOperations) -> Result<Option<ConversationRecord>, StoreError> {
    let is_open = |record: &ConversationRecord| record.operation.verb != ConversationVerb::Undo && record.undone_by.is_none();
    Ok(store.operations()?.into_iter().find(is_open))
}

/// Undoes the operation whose id begins with `reference`, 4 digits of it or more.
///
/// # Errors
/// As [`ConversationOperations::undo`]; [`StoreError::Ambiguous`] if several operations begin so.
pub fn undo(
    store: &dyn ConversationOperations,
    reference: &str,
    clock: &dyn Clock,
    ids: &dyn IdSource,
) -> Result<ConversationUndone, StoreError> {
    let wanted = reference.trim().to_lowercase();
    let is_wanted = |record: &ConversationRecord| 4 <= wanted.len() && record.operation.id.as_str().starts_with(&wanted);
    let mut found = store.operations()?.into_iter().filter(is_wanted);
    let missing = || StoreError::OperationNotFound { wanted: format!("no operation is called {reference}") };
    let record = found.next().ok_or_else(missing)?;
    if let Some(other) = found.next() {
        let candidates = vec![record.operation.id.to_string(), other.operation.id.to_string()];
        return Err(StoreError::Ambiguous { reference: wanted, candidates });
    }
    let operation = begin(clock, ids, ConversationVerb::Undo, "cli");
    let record = store.undo(&record.operation.id, &operation)?;
    Ok(ConversationUndone { record, undo: operation.id })
}

/// Brings back the entry that was deleted last under `reference`: its id, 4 or more characters of it, the name of its file, or its
/// path in the trash. Returns the entry, and where it is now.
///
/// # Errors
/// [`StoreError::TrashNotFound`] if there is none; as [`ConversationOperations::restore`].
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
    let path = store.restore(&entry, &begin(clock, ids, ConversationVerb::Restore, "cli"))?;
    Ok((entry, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secrets;
    use crate::conversation::{Entry, add};
    use crate::testing::{FakeConversations, conversations};

    #[test]
    fn what_a_change_adds_holds_no_credential() {
        let all = conversations(Arc::new(FakeConversations::default()));
        let place = ConversationId::unnamed();
        let known = add(&all, &place, &["The user loves pizza.".to_owned()], Secrets::Refuse).unwrap().remove(0);
        let secret = "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345.";
        let id: EntryId = "new".parse().unwrap();
        let new = Entry::new(id.clone(), &place, EntryRole::Memory, secret, DateTime::UNIX_EPOCH);
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
            conversation: ConversationId::unnamed(),
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
